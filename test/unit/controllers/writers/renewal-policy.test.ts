import {beforeEach, describe, expect, test} from '@jest/globals';
import {pino} from 'pino';
import type {CustomResourceDefinition} from '../../../../operator/api/foreign.ts';
import {mayDisableRenewal, RenewalPolicy} from '../../../../operator/controllers/writers/renewal-policy.ts';
import {certificateKind} from '../../../support/cert-manager-kinds.ts';

/** The kind of 1.21.2 with this label. */
function labelled(version: string | undefined): CustomResourceDefinition {
  const {metadata, ...kind} = certificateKind('v1.21.2');
  const labels = version === undefined ? undefined : {'app.kubernetes.io/version': version};
  return {...kind, metadata: {...metadata, ...(labels ? {labels} : {labels: {}})}};
}

describe('Whether renewal can be disabled is decided by the installed kind', () => {
  test.each<[string, CustomResourceDefinition, boolean]>([
    ['1.20.3 has no such field', certificateKind('v1.20.3'), false],
    [
      '1.20.3 has no such field, whatever its label says',
      {...labelled('v1.21.2'), spec: certificateKind('v1.20.3').spec},
      false,
    ],
    ['1.21.0 panics at it', certificateKind('v1.21.0'), false],
    ['1.21.1 is the first that heeds it', labelled('v1.21.1'), true],
    ['1.21.2', certificateKind('v1.21.2'), true],
    ['1.22.0', labelled('v1.22.0'), true],
    ['1.30.0-alpha.1', labelled('v1.30.0-alpha.1'), true],
    ['2.0.0', labelled('2.0.0'), true],
    ['a version before the field', labelled('v0.99.9'), false],
    ['no version', labelled(undefined), false],
    ['no version that can be compared', labelled('latest'), false],
  ])('%s', (_, kind, expected) => {
    expect(mayDisableRenewal(kind)).toBe(expected);
  });
});

describe('The kind', () => {
  let installed: CustomResourceDefinition | undefined;
  let refusal: Error | undefined;
  let reads: number;
  let now: number;
  let policy: RenewalPolicy;
  beforeEach(() => {
    [installed, refusal, reads, now] = [certificateKind('v1.20.3'), undefined, 0, 0];
    const get = async (_: unknown, key: string) => {
      reads++;
      expect(key).toBe('certificates.cert-manager.io');
      if (refusal) throw refusal;
      return installed;
    };
    policy = new RenewalPolicy({client: {get} as never, log: pino({level: 'silent'}), now: () => now});
  });

  test('is read once for all Certificates that are retained within a minute', async () => {
    expect(await Promise.all([policy.mayDisable(), policy.mayDisable()])).toEqual([false, false]);
    now = 59_999;
    installed = certificateKind('v1.21.2');
    expect([await policy.mayDisable(), reads]).toEqual([false, 1]);
  });

  test('is read again after a minute: an upgrade and a downgrade are noticed', async () => {
    const seen: boolean[] = [];
    for (const version of ['v1.20.3', 'v1.21.2', 'v1.21.0', 'v1.21.2'] as const) {
      installed = certificateKind(version);
      seen.push(await policy.mayDisable());
      now += 60_000;
    }
    expect({seen, reads}).toEqual({seen: [false, true, false, true], reads: 4});
  });

  test('that is not there, or may not be read, disables nothing', async () => {
    installed = undefined;
    expect(await policy.mayDisable()).toBe(false);
    now = 60_000;
    refusal = new Error('forbidden');
    expect(await policy.mayDisable()).toBe(false);
  });
});
