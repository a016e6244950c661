"""Reads the projects over and over, four requests at a time, by a library that retries. After a final
failure the next request starts immediately.

    API=http://HOST:PORT KEY=dp_... python client.py urllib3|tenacity
"""
import os
import sys
import threading
import urllib.error
import urllib.request

url = os.environ["API"] + "/v1/projects"
headers = {"Authorization": "Bearer " + os.environ["KEY"]}


def by_urllib3():
    import urllib3

    pool = urllib3.PoolManager()
    return lambda: pool.request("GET", url, headers=headers)


def by_tenacity():
    from tenacity import retry, stop_after_attempt, wait_random_exponential

    # It knows nothing of HTTP; without `wait` it would not wait at all. This is what its documentation shows for services.
    @retry(wait=wait_random_exponential(max=60), stop=stop_after_attempt(8))
    def read():
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            answer.read()

    return read


read = {"urllib3": by_urllib3, "tenacity": by_tenacity}[sys.argv[1]]()


def work():
    while True:
        try:
            read()
        except Exception:
            pass


for _ in range(4):
    threading.Thread(target=work).start()
