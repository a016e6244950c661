import {spawn} from 'node:child_process';
import {root, sh} from '../../cluster/cluster.ts';

/** The fake of failing-dns.ts, inside the cluster at an address of its own; resolves with what ends it. */
export async function failingDns(address: string, rcode: number): Promise<() => Promise<void>> {
  await sh('cluster/enter.sh', ['ip', 'address', 'replace', `${address}/32`, 'dev', 'lo']);
  const server = spawn('cluster/enter.sh', [process.execPath, 'test/support/failing-dns.ts', address, String(rcode)], {cwd: root, stdio: ['pipe', 'pipe', 'inherit']});
  await new Promise<void>((resolve, reject) => { server.stdout.once('data', () => resolve()); server.once('exit', (code) => reject(new Error(`the fake ended: ${code}`))); });
  return () => new Promise((resolve) => { server.once('exit', () => resolve()); server.stdin.end(); });
}
