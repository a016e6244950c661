/** docs/reference/kinds.md: what a reader finds there of a schema. */
import {expect, test} from '@jest/globals';
import {customDomainKind} from '../../../operator/api/custom-domain.ts';
import {domainClaimKind} from '../../../operator/api/domain-claim.ts';
import {kindsPage} from '../../../operator/generate/kinds-page.ts';
import {planKind} from '../../../operator/api/plan.ts';

const page = kindsPage([planKind, customDomainKind, domainClaimKind]);
const row = (field: string): string => page.split('\n').find((line) => line.startsWith(`| \`${field}\` |`)) ?? '';

test('A field has its path, its type, whether it can be left out, and its bounds', () => {
  expect(row('primary')).toContain('| string; at most 254 characters |');
  expect(row('redirects[]')).toContain('| list; optional, or null; at most 500 |');
  expect(row('redirects[].status')).toContain('| `301`, `302`, `307`, `308`; optional, or null; default `301` |');
  expect(row('rateLimit.requestsPerMinute')).toContain('| integer; 1 to 2147483647 |');
});

test('A kind has its names, its scope, and what is refused of its spec', () => {
  expect(page).toContain(
    'Scope: namespace. List with `kubectl get customdomains.doorplate.dev` or `kubectl get dpdom`. ' +
      'Select objects with `--field-selector spec.primary=VALUE` or `--field-selector spec.projectRef.name=VALUE`.\n',
  );
  expect(page).toContain(
    'Scope: cluster. List with `kubectl get domainclaims.doorplate.dev` or `kubectl get dpclaim`.\n',
  );
  expect(page).toMatch(/Refused:\n\n- /);
});
