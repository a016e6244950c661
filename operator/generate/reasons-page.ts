/** `docs/reference/reasons.md` out of the one table of reasons. */
import {reasons} from '../domain/reasons/reasons.ts';
import type {HealthRow} from '../domain/status/health.ts';
import {healthRows} from '../domain/status/health.ts';
import type {Reason} from '../domain/reasons/reason.ts';
import {message} from '../domain/reasons/reason.ts';

const parties: Readonly<Record<Reason['waitingFor'], string>> = {
  Customer: 'the customer',
  Platform: 'the platform',
  CertificateAuthority: 'the certificate authority',
  Nobody: '-',
};

/** The verdict of tools that wait for a status: a row of the table. */
const kind = ([name, {means, condition, kstatus, argoCD, flux}]: [string, HealthRow]): string =>
  `| *${name}* | ${means} | ${kstatus === 'Current' ? 'True' : 'False'} | ${condition ?? '-'} | ${kstatus} | ${argoCD} | ${flux} |\n`;

const intro = `<!-- Generated from operator/domain/reasons/reasons.ts by \`make crds\`. Do not edit. -->
# Reasons

Every reason that a status may give: in \`status.hosts[].reason\` and in \`status.conditions[].reason\` of a CustomDomain, and in
\`status.conditions[].reason\` of a Project, an Account or an ApiKey. \`kubectl get customdomain NAME -o yaml\` shows them, each
with a message that names what was seen and what to do.

**Kind** is how a tool that waits takes it; \`Reconciling\` and \`Stalled\` are conditions that stand beside \`Ready\`. What is awaited
becomes stalled after 48 hours (\`propagationTime\`), \`EdgeUnreachable\` and \`EdgeNotServing\` do after 2 minutes; what is stalled is
*ending* while the hostname is served on. Argo CD and Flux judge so with the checks of [GitOps](../how-to/gitops.md).

| Kind | Means | Ready | Beside it | kstatus (Helm) | Argo CD | Flux |
|---|---|---|---|---|---|---|
${Object.entries(healthRows).map(kind).join('')}
| Reason | Means | What to do | Whose turn | Kind |
|---|---|---|---|---|
`;

const pageIntro = `
## Texts on the page

The [Domains page](../how-to/page.md) shows these texts to the customer in place of the reason. *The message* is the message of the status,
word for word. No two reasons have the same title, so the title that a customer reads to you leads to the reason.

| Reason | Title | Text | Next step | Duration |
|---|---|---|---|---|
`;

const cell = (text: string) => text.replaceAll('|', '\\|');

const operatorsRow = ([name, r]: [string, Reason]): string =>
  `| \`${name}\` | ${cell(r.means)} | ${cell(r.remedy)} | ${parties[r.waitingFor]} | ${r.health} |\n`;

function customersRow([name, {customer}]: [string, Reason]): string {
  const {title, body, next, howLong} = customer;
  const text = body === message ? '*The message*' : cell(body);
  return `| \`${name}\` | ${cell(title)} | ${text} | ${cell(next)} | ${howLong === '' ? '-' : cell(howLong)} |\n`;
}

/** The page, whole. */
export function reasonsPage(): string {
  const rows = Object.entries(reasons);
  return intro + rows.map(operatorsRow).join('') + pageIntro + rows.map(customersRow).join('');
}
