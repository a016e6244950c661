"""The scenario of clients.test.ts with the client that openapi-python-client makes."""

import json
import os
import time
import uuid

from doorplate import AuthenticatedClient
from doorplate.api.account import get_account
from doorplate.api.domains import add_hostname, get_hostname, verify_hostname
from doorplate.api.keys import rotate_key
from doorplate.api.projects import list_projects
from doorplate.models import Account, ApiKeyWithToken, Hostname, HostnamePhase, KeyRotation, NewHostname, Problem, ProjectPage

HOSTNAME = os.environ["HOSTNAME"]


def connect(key):
    return AuthenticatedClient(base_url=os.environ["API"], token=key, raise_on_unexpected_status=True)


def good(answer, kind):
    assert isinstance(answer, kind), answer
    return answer


api = connect(os.environ["KEY"])


def wait_for(is_so):
    for _ in range(60):
        hostname = good(get_hostname.sync("docs", HOSTNAME, client=api), Hostname)
        if is_so(hostname):
            return hostname
        time.sleep(0.5)
    raise AssertionError("it never came")


good(add_hostname.sync("docs", client=api, body=NewHostname(hostname=HOSTNAME)), Hostname)
record = wait_for(lambda hostname: hostname.records).records[0]
assert verify_hostname.sync_detailed("docs", HOSTNAME, client=api).status_code == 202
phase = wait_for(lambda hostname: hostname.phase == HostnamePhase.LIVE).phase

while True:
    answer = list_projects.sync_detailed(client=api)
    if isinstance(answer.parsed, Problem):
        break
problem = answer.parsed
time.sleep(int(answer.headers["retry-after"]))
page = good(list_projects.sync(client=api), ProjectPage)

rotated = rotate_key.sync("ci", client=api, body=KeyRotation(overlap_seconds=60), idempotency_key=str(uuid.uuid4()))
account = good(get_account.sync(client=connect(good(rotated, ApiKeyWithToken).token)), Account)

print(
    json.dumps(
        {
            "record": f"{record.type_} {record.name} {record.value}",
            "phase": phase.value,
            "refused": f"{problem.status} {problem.type_}",
            "projects": [project.name for project in page.items],
            "account": f"{account.key.name} {account.usage.minute.limit}",
        }
    )
)
