/**
 * One measurement of ROW=P8 in a process of its own: `node dns-subject.ts SERVER TARGET COUNT CAA`: that many checks of hostnames that a server
 * on loopback proves. Prints CPU time and time, ms.
 */
import {check} from '../../operator/controllers/probes/dns-check.ts';
import {DnsClient} from '../../operator/dns/client.ts';

const [server = '', target = '', count = '', caa = ''] = process.argv.slice(2);
const dns = new DnsClient({recursive: [{address: server, port: 53}], allowPrivateAddresses: true});
const options = {
  dns,
  rules: {edgeAddresses: ['127.0.0.1'], addressOnly: false, cdns: []},
  mode: 'Authoritative' as const,
  cas: () => [{issuer: 'acme', identities: ['ca.test'], zone: 'apps.platform.test'}],
};
/** As many as the operator has at once. */
const atOnce = 64;

async function checks(from: number, to: number): Promise<void> {
  let next = from;
  const worker = async (): Promise<void> => {
    for (let n = next++; n < to; n = next++) {
      const verdict = await check(options, {hostname: `www.tenant${n}.test`, target}, caa === 'caa');
      if (verdict.kind !== 'Proven') throw new Error(JSON.stringify(verdict));
    }
  };
  await Promise.all(Array.from({length: atOnce}, worker));
}

// The first ones compile.
await checks(0, Number(count) / 5);
const [began, before] = [performance.now(), process.cpuUsage()];
await checks(Number(count) / 5, Number(count));
const {user, system} = process.cpuUsage(before);
const done = Number(count) * 0.8;
console.log(JSON.stringify({cpuMs: (user + system) / 1000 / done, ms: (performance.now() - began) / done}));
process.exit(0);
