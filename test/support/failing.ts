import {spawn} from 'node:child_process';
import type {CertificateRequest, DomainClaim} from '../../operator/api/foreign.ts';
import {eventually, kubectl, root, sh} from '../../cluster/cluster.ts';
import type {Tenant} from './tenant.ts';

/** The fake of failing-dns.ts, inside the cluster at an address of its own; resolves with what ends it. */
export async function failingDns(address: string, rcode: number): Promise<() => Promise<void>> {
  await sh('cluster/enter.sh', ['ip', 'address', 'replace', `${address}/32`, 'dev', 'lo']);
  const server = spawn('cluster/enter.sh', [process.execPath, 'test/support/failing-dns.ts', address, String(rcode)], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    server.stdout.once('data', () => resolve());
    server.once('exit', (code) => reject(new Error(`the fake ended: ${code}`)));
  });
  return () =>
    new Promise((resolve) => {
      server.once('exit', () => resolve());
      server.stdin.end();
    });
}

/**
 * From now on the CA's validation of one hostname is cut off as it asks, and only that: cert-manager's own check passes still.
 * Resolves with what mends it.
 */
export async function cutOffTheCA(hostname: string): Promise<() => Promise<void>> {
  // In its Pod's own network namespace, where a reset reaches it.
  const rule = (action: '-I' | '-D') =>
    sh('cluster/enter.sh', [
      'sh',
      '-c',
      'nsenter -t "$(pgrep -xo pebble)" -n iptables -w "$@"',
      'sh',
      action,
      'OUTPUT',
      '-p',
      'tcp',
      '--dport',
      '80',
      '-m',
      'string',
      '--algo',
      'bm',
      '--string',
      `Host: ${hostname}`,
      '-j',
      'REJECT',
      '--reject-with',
      'tcp-reset',
    ]);
  await rule('-I');
  return async () => {
    await rule('-D');
  };
}

/** The failed orders of a hostname, as its claim remembers them. cert-manager sometimes takes its first request back after a second: that one counts, and has no outcome. */
export const failuresOf = async (hostname: string) =>
  (
    (JSON.parse(await kubectl(['get', 'domainclaim', hostname, '-o', 'json'])) as DomainClaim).status?.orders ?? []
  ).filter((o) => o.outcome === 'Failed');

/** Attaches `site` with the CA cut off from its hostname, and waits until its CertificateRequest has failed. */
export async function failingOrder(
  tenant: Tenant,
): Promise<{hostname: string; mend: () => Promise<void>; failed: CertificateRequest}> {
  const hostname = tenant.host('www');
  const mend = await cutOffTheCA(hostname);
  await tenant.record('www', tenant.proof);
  await tenant.attach('site', hostname);
  const failed = await eventually(`the request in ${tenant.namespace} has failed`, async () =>
    (await tenant.requests('site')).find((r) =>
      r.status?.conditions?.some((c) => c.type === 'Ready' && c.reason === 'Failed'),
    ),
  );
  return {hostname, mend, failed};
}
