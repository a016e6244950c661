import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import type {Certificate} from '../../operator/api/foreign.ts';
import {apply, audit, env, kubectl, setZone, sh} from '../../cluster/cluster.ts';
import {operator, receivedAt} from '../support/requests.ts';
import {Tenant} from '../support/tenant.ts';

let tenant: Tenant;
const deadZone = () => `dead-${tenant.zone}`;
beforeAll(async () => {
  tenant = await Tenant.create('reasons');
});
afterAll(async () => {
  await sh('cluster/dns.sh', ['remove', deadZone()]);
  await tenant?.remove();
});

/** What must never exist for a hostname that is not proven. */
async function certificatesFor(hostname: string): Promise<number> {
  const {items} = JSON.parse(await kubectl(['get', 'certificates,certificaterequests,orders', '-A', '-o', 'json'])) as {
    items: {spec: {dnsNames?: string[]}}[];
  };
  return items.filter((i) => i.spec.dnsNames?.includes(hostname)).length;
}

describe('what a customer is told while the DNS is not right', () => {
  const rows: {
    name: string;
    record?: string;
    reason: string;
    state: string;
    sees: (t: Tenant) => RegExp;
    verified: 'False' | 'Unknown';
    waitingFor: string;
    observed?: string[];
  }[] = [
    {
      name: 'no record',
      reason: 'RecordMissing',
      state: 'Missing',
      sees: () => /has no record\. Create CNAME/,
      verified: 'False',
      waitingFor: 'Customer',
    },
    {
      name: 'a CNAME to another name',
      record: 'IN CNAME elsewhere.example.com.',
      reason: 'TargetMismatch',
      state: 'Wrong',
      sees: () => /is a CNAME to elsewhere\.example\.com\. Change it to CNAME/,
      verified: 'False',
      waitingFor: 'Customer',
      observed: ['CNAME elsewhere.example.com'],
    },
    {
      name: 'an address in place of the CNAME',
      record: 'IN A 203.0.113.7',
      reason: 'ConflictingRecord',
      state: 'Conflicting',
      sees: () => /has A 203\.0\.113\.7 and no CNAME\. Delete it and create CNAME/,
      verified: 'False',
      waitingFor: 'Customer',
      observed: ['A 203.0.113.7'],
    },
    {
      name: "the edge's own address",
      record: 'IN A 10.244.0.1',
      reason: 'ProxiedOrFlattened',
      state: 'Conflicting',
      sees: () => /has the edge's address .* Switch that off, so that visitors bypass it, and create CNAME/,
      verified: 'False',
      waitingFor: 'Customer',
      observed: ['A 10.244.0.1'],
    },
  ];

  test.each(rows)('$name is $reason, with the record to create and what was seen, and no certificate', async (row) => {
    const label = row.reason.toLowerCase();
    const hostname = tenant.host(label);
    await tenant.record(label, row.record);
    await tenant.attach(label, hostname, []);
    const domain = await tenant.reason(label, row.reason);
    const host = domain.status?.hosts?.[0];
    expect(host).toMatchObject({hostname, phase: 'AwaitingVerification', waitingFor: row.waitingFor});
    expect(host?.message).toMatch(row.sees(tenant));
    expect(host?.message).toContain(`CNAME ${label} -> ${tenant.target} (TTL 3600) in the zone ${tenant.zone}`);
    expect(domain.status?.dnsRecords).toEqual([
      {
        hostname,
        type: 'CNAME',
        name: label,
        zone: tenant.zone,
        value: tenant.target,
        ttl: 3600,
        state: row.state,
        ...(row.observed && {observed: row.observed}),
      },
    ]);
    const condition = (type: string) => domain.status?.conditions?.find((c) => c.type === type);
    expect(condition('Verified')).toMatchObject({status: row.verified, reason: row.reason});
    expect(condition('Ready')).toMatchObject({status: 'False', reason: row.reason});
    expect(condition('Reconciling')).toMatchObject({status: 'True'});
    expect(await certificatesFor(hostname)).toBe(0);
    await kubectl(['delete', 'customdomain', '-n', tenant.namespace, label]);
  });

  test('one hostname in two spellings is DuplicateHostname, and the first goes its way', async () => {
    await tenant.attach('twin', `b\u00fccher.${tenant.zone}`, [{from: `xn--bcher-kva.${tenant.zone}`}]);
    const domain = await tenant.reason('twin', 'RecordMissing');
    expect(domain.status?.hosts?.map((h) => h.reason)).toEqual(['RecordMissing', 'DuplicateHostname']);
    await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'twin']);
  });

  test('a zone whose server is dead is AuthoritativeUnreachable: nobody knows, so Verified is Unknown', async () => {
    const dead = `${env().blackHole.split('/')[0]?.replace(/0$/, '1')}`;
    await setZone(deadZone(), [`@ IN NS ns.${deadZone()}.`, `ns IN A ${dead}`]);
    const hostname = `docs.${deadZone()}`;
    await tenant.attach('dead', hostname);
    const domain = await tenant.reason('dead', 'AuthoritativeUnreachable');
    expect(domain.status?.hosts?.[0]).toMatchObject({phase: 'AwaitingVerification', waitingFor: 'Platform'});
    expect(domain.status?.hosts?.[0]?.message).toMatch(
      new RegExp(
        `could not be checked: the name servers of ${deadZone().replaceAll('.', '\\.')}, ns\\..* \\(${dead}\\), did not answer \\(Timeout\\)`,
      ),
    );
    expect(domain.status?.hosts?.[0]?.message).toContain(
      `CNAME docs -> ${tenant.target} (TTL 3600) in the zone ${deadZone()}`,
    );
    expect(domain.status?.conditions?.find((c) => c.type === 'Verified')).toMatchObject({
      status: 'Unknown',
      reason: 'AuthoritativeUnreachable',
    });
    expect(domain.status?.conditions?.find((c) => c.type === 'Stalled')).toMatchObject({status: 'True'});
    expect(await certificatesFor(hostname)).toBe(0);
    // A removal is not queued behind the time-outs: it takes what that of another takes (the least of three: machines are busy).
    const removed = async (name: string) => {
      const began = Date.now();
      await kubectl(['delete', 'customdomain', '-n', tenant.namespace, name]);
      return Date.now() - began;
    };
    const later: number[] = [];
    for (const label of ['docs', 'shop', 'blog']) {
      if (label !== 'docs') await tenant.attach('dead', `${label}.${deadZone()}`);
      await tenant.attach('answered', tenant.host('answered'), [], 'none');
      await tenant.reason('answered', 'ProjectNotFound');
      const [silent, answered] = await Promise.all([removed('dead'), removed('answered')]);
      console.log(
        `removed in ${silent} ms while its DNS server swallows questions, one without a question in ${answered} ms`,
      );
      later.push(silent - answered);
    }
    expect(Math.min(...later)).toBeLessThan(5000);
  });

  test('a record that is put right is found by the automatic checks', async () => {
    await tenant.record('heals', 'IN CNAME elsewhere.example.com.');
    await tenant.attach('heals', tenant.host('heals'));
    await tenant.reason('heals', 'TargetMismatch');
    await tenant.record('heals', tenant.proof);
    await tenant.wait('heals', 'Verified');
    expect((await tenant.get('heals'))?.status?.dnsRecords?.[0]).toMatchObject({state: 'Found'});
    await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'heals']);
  });
});

describe('CAA records that forbid the certificate authority', () => {
  test('hold the order back, name the record to add, and when it is there the domain goes Live', async () => {
    const hostname = tenant.host('caa');
    await tenant.records({caa: tenant.proof, '@': 'IN CAA 0 issue "other-ca.example.net"'});
    await tenant.attach('caa', hostname);
    const domain = await tenant.reason('caa', 'CAABlocksIssuer');
    expect(domain.status?.hosts?.[0]).toMatchObject({phase: 'Verified', waitingFor: 'Customer'});
    expect(domain.status?.hosts?.[0]?.message).toContain(`${tenant.zone} has CAA 0 issue "other-ca.example.net"`);
    expect(domain.status?.hosts?.[0]?.message).toContain(`Add CAA 0 issue "pebble.letsencrypt.org" at ${tenant.zone}`);
    const condition = (type: string) => domain.status?.conditions?.find((c) => c.type === type);
    expect([
      condition('Verified')?.status,
      condition('CertificateReady')?.status,
      condition('Stalled')?.status,
    ]).toEqual(['True', 'False', 'True']);
    const allowed = new Date();
    await tenant.record('@', 'IN CAA 0 issue "pebble.letsencrypt.org; validationmethods=http-01"');
    await tenant.wait('caa', 'Live');
    // Not before that.
    const [first] = await audit(
      new Date(0),
      (e) =>
        e.user.username === operator &&
        e.objectRef?.resource === 'certificates' &&
        e.responseStatus?.code === 201 &&
        (e.requestObject as Certificate).spec.dnsNames.includes(hostname),
    );
    expect(receivedAt(first!)).toBeGreaterThan(allowed.getTime());
    await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'caa']);
    await tenant.record('@', undefined);
  });
});

describe('what is not accepted', () => {
  test('a CustomDomain without its Project, before its deploy, beside an older one, of the platform, and each heals itself', async () => {
    await tenant.attach('early', tenant.host('early'), [], 'later');
    await tenant.reason('early', 'ProjectNotFound');
    await apply([tenant.project('later')]);
    await tenant.reason('early', 'NoSuccessfulDeploy');
    await apply(tenant.backend('later'));
    await tenant.reason('early', 'RecordMissing');
    await new Promise((resolve) => {
      setTimeout(resolve, 1100);
    }); // creation times have seconds
    await tenant.attach('second', tenant.host('second'), [], 'later');
    const second = await tenant.reason('second', 'ProjectHasDomains');
    expect(second.status).toMatchObject({phase: 'NotAccepted', hostsLive: '0/1'});
    await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'early']);
    await tenant.reason('second', 'RecordMissing');
    await tenant.attach('second', 'mine.apps.platform.test', [], 'later');
    const denied = await tenant.reason('second', 'HostnameNotAllowed');
    expect(denied.status?.hosts?.[0]?.message).toContain("the platform's own zone apps.platform.test");
    await tenant.attach('second', tenant.host('second'), [], 'later');
    await tenant.reason('second', 'RecordMissing');
    await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'second']);
  });
});
