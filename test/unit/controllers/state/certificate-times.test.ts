import {expect, test} from '@jest/globals';
import type {Certificate} from '../../../../operator/api/foreign.ts';
import {CertificateTimes} from '../../../../operator/controllers/state/certificate-times.ts';
import {makeCertificate} from '../../../../operator/domain/certificates/certificate.ts';
import {policy, t0} from '../../../support/world.ts';

const made = (hostname: string): Certificate =>
  makeCertificate({name: hostname, namespace: 'acme', hostname, issuerRef: policy.issuers[0].issuerRef});

/** What a cache tells, and a clock that goes a second forward with each thing it tells. */
function timesOf(most?: number) {
  let [now, tell]: [number, (now?: Certificate, before?: Certificate) => void] = [t0, () => {}];
  const cache = {onChange: (handler: typeof tell) => void (tell = handler)};
  const times = new CertificateTimes(cache as never, {...(most !== undefined && {most}), now: () => now});
  return {
    times,
    tell: (after: Certificate | undefined, before?: Certificate) => {
      now += 1000;
      tell(after, before);
    },
  };
}

test('a hostname had its Certificate when that last came, changed or went; nothing is known of before this process', () => {
  const {times, tell} = timesOf();
  const docs = made('docs.example.com');
  const seconds = () => ['docs.example.com', 'other.example.com'].map((h) => (times.of(h) - t0) / 1000);
  expect(seconds()).toEqual([0, 0]);
  tell(docs);
  expect(seconds()).toEqual([1, 0]);
  tell(docs, docs);
  expect(seconds()).toEqual([2, 0]);
  tell(undefined, docs);
  expect(seconds()).toEqual([3, 0]);
});

test('of what is forgotten nothing is known: it counts as what had one then', () => {
  const {times, tell} = timesOf(2);
  const names = ['a.example', 'b.example', 'c.example', 'd.example'];
  for (const name of names) tell(made(name));
  expect(['never.example', ...names].map((h) => (times.of(h) - t0) / 1000)).toEqual([2, 2, 2, 3, 4]);
});
