import {expect, test} from '@jest/globals';
import {Registry} from 'prom-client';
import {domainMetrics} from '../../../operator/observability/metrics.ts';

test('The metrics of certificates say when the first expires and how many are late, and never a hostname', async () => {
  const registry = new Registry();
  let hosts: {reason: string; hostname: string; certificate?: {notAfter?: string}}[] = [];
  domainMetrics(registry).certificates(() => hosts);
  const lines = async () => (await registry.metrics()).split('\n').filter((l) => l.startsWith('doorplate_certificate'));
  expect(await lines()).toEqual([
    'doorplate_certificates_late{reason="RenewalOverdue"} 0',
    'doorplate_certificates_late{reason="CertificateExpired"} 0',
  ]);
  hosts = [
    {hostname: 'a.example', reason: 'Serving', certificate: {notAfter: '2026-05-30T12:00:00Z'}},
    {hostname: 'b.example', reason: 'RenewalOverdue', certificate: {notAfter: '2026-03-30T12:00:00Z'}},
    {hostname: 'c.example', reason: 'CertificateExpired', certificate: {notAfter: '2026-03-01T12:00:00Z'}},
    {hostname: 'd.example', reason: 'Issuing', certificate: {}},
  ];
  expect(await lines()).toEqual([
    `doorplate_certificate_expiry_timestamp_seconds ${Date.parse('2026-03-01T12:00:00Z') / 1000}`,
    'doorplate_certificates_late{reason="RenewalOverdue"} 1',
    'doorplate_certificates_late{reason="CertificateExpired"} 1',
  ]);
  hosts = [];
  expect(await lines()).toHaveLength(2);
});
