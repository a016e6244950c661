import {arrow, box, type Picture, text} from './svg.ts';

const step = (
  x: number,
  number: number,
  title: string,
  values: readonly string[],
  tone: 'plain' | 'warn' | 'own' | 'good',
): string => box({x, y: 50, w: 200, h: 84}, `${number}. ${title}`, values, tone);

const column = (x: number, seen: readonly string[], todo: readonly string[]): string =>
  [text(x, 178, seen, {}), text(x, 290, todo, {})].join('\n');

export const policyRollOut: Picture = {
  name: 'policy-roll-out',
  label:
    'The roll-out of the admission policy in four steps: audit, warn, deny in Namespaces of an Account, deny in all Namespaces',
  width: 900,
  height: 370,
  parts: [
    text(
      20,
      28,
      'admissionPolicy.mode and scope. Steps 1 and 2 refuse no customer’s route: use them before the first customer.',
      {
        small: false,
      },
    ),
    step(15, 1, 'Audit', ['mode: Audit', 'scope: All'], 'plain'),
    step(238, 2, 'Warn', ['mode: Warn', 'scope: All'], 'warn'),
    step(461, 3, 'Deny for customers', ['mode: Deny (default)', 'scope: Accounts (default)'], 'own'),
    step(684, 4, 'Deny for all', ['mode: Deny', 'scope: All'], 'good'),
    ...[215, 438, 661].map((x) =>
      arrow([
        [x, 92],
        [x + 21, 92],
      ]),
    ),
    text(15, 158, 'A write that the policy guards', {bold: true}),
    text(15, 270, 'Next', {bold: true}),
    column(
      15,
      ['is admitted; the API', 'server’s audit log and', 'metrics record it'],
      ['kubectl doorplate', 'policy check, and', 'policy audit'],
    ),
    column(
      238,
      ['is admitted, with a', 'warning to the writer'],
      ['except the teams that', 'continue to write routes:', 'doorplate.dev/admission,', 'exceptUsers, exceptGroups'],
    ),
    column(
      461,
      ['is refused in Namespaces', 'of an Account; elsewhere', 'as with Audit'],
      ['check that the audit log', 'lists no more writes'],
    ),
    column(
      684,
      ['is refused in every', 'Namespace that is not', 'excepted'],
      ['required if you do not trust', 'all tenants, unless each of', 'their Namespaces has an', 'Account'],
    ),
  ],
};
