import {describe, expect, test} from '@jest/globals';
import {Registry} from 'prom-client';
import {phases} from '../../../operator/api/custom-domain.ts';
import {type LeaderFacts, standingMetrics} from '../../../operator/observability/standing-metrics.ts';

const since = Date.parse('2026-03-01T12:00:00Z');
const waits = {waitingFor: 'Customer', reason: 'RecordMissing'};
const standing: LeaderFacts = {
  phases: () => phases.map((phase) => [phase, phase === 'Live' ? 3 : 0]),
  waiting: () => [
    {...waits, count: 2, oldest: since},
    {...waits, reason: 'TargetMismatch', count: 0, oldest: Infinity},
  ],
  degraded: () => [['EdgeNotServing', 1]],
  edgeAddresses: () => [['192.0.2.1:443', true]],
  certificates: () => [['Ready', 3]],
  firstEnd: () => since,
  certificatesToMove: () => 2,
  certificatesInUse: () => [
    ['letsencrypt', 1],
    ['Other', 2],
  ],
  issuersAvailable: () => [
    ['letsencrypt', true],
    ['google', false],
  ],
  certificatesRepeated: () => 1,
  claims: () => [['Quarantined', 1]],
  ordersWaiting: () => [{issuer: 'letsencrypt', waiting: 4}],
  budget: () => [{issuer: 'letsencrypt', limit: 300, perMs: 10_800_000, used: 7}],
  domainsWithoutPlan: () => 5,
  plainHttpRivals: () => 0,
  preflight: () => [
    ['issuer', true],
    ['edge', false],
  ],
};

/** What is told of it, without zeros. */
async function told(read: () => LeaderFacts | undefined): Promise<string[]> {
  const registry = new Registry();
  standingMetrics(registry, read);
  return (await registry.metrics()).split('\n').filter((line) => /^[^#].* [^0]/.test(line));
}

describe('What stands in the cluster', () => {
  test('is told as sums, and as times since which the oldest waits', async () => {
    expect(await told(() => standing)).toEqual([
      'doorplate_hostnames{phase="Live"} 3',
      'doorplate_hostnames_waiting{waiting_for="Customer",reason="RecordMissing"} 2',
      `doorplate_hostnames_waiting_since_timestamp_seconds{waiting_for="Customer",reason="RecordMissing"} ${since / 1000}`,
      'doorplate_hostnames_degraded{reason="EdgeNotServing"} 1',
      'doorplate_edge_address_serving{edge="192.0.2.1:443"} 1',
      'doorplate_certificates{state="Ready"} 3',
      `doorplate_certificate_expiry_timestamp_seconds ${since / 1000}`,
      'doorplate_certificates_to_move 2',
      'doorplate_certificates_in_use{issuer="letsencrypt"} 1',
      'doorplate_certificates_in_use{issuer="Other"} 2',
      'doorplate_issuer_available{issuer="letsencrypt"} 1',
      'doorplate_certificates_requested_repeatedly 1',
      'doorplate_claims{state="Quarantined"} 1',
      'doorplate_orders_waiting{issuer="letsencrypt"} 4',
      'doorplate_order_budget_used{issuer="letsencrypt",window_seconds="10800"} 7',
      'doorplate_order_budget_limit{issuer="letsencrypt",window_seconds="10800"} 300',
      'doorplate_customdomains_without_plan 5',
      'doorplate_preflight_ok{question="issuer"} 1',
    ]);
  });

  test('is not told of by one that stands by', async () => {
    const registry = new Registry();
    standingMetrics(registry, () => undefined);
    expect((await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
  });

  test('without a certificate has no time at which the first ends', async () => {
    expect((await told(() => ({...standing, firstEnd: () => Infinity}))).join('\n')).not.toContain('expiry');
  });
});
