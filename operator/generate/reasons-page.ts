/** `docs/reference/reasons.md` from the table of reasons and the English texts for customers. */
import {type ReasonName, reasons} from '../domain/reasons/reasons.ts';
import {english} from '../domain/reasons/texts/en.ts';
import type {HealthRow} from '../domain/status/health.ts';
import {healthRows} from '../domain/status/health.ts';
import type {Reason} from '../domain/reasons/reason.ts';
import {shownTemplate} from '../domain/reasons/template.ts';

/** The title of each area, at its first reason in the table. */
const areas: Readonly<Partial<Record<ReasonName, string>>> = {
  ProjectNotFound: 'Attaching a hostname',
  CheckPending: 'Verification',
  CAABlocksIssuer: 'Certificates and routes',
  Serving: 'Serving',
  PlanFound: 'Accounts, API keys and Projects',
};

/** The verdict of tools that wait for a status: a row of the table. */
const kind = ([name, {means, condition, kstatus, argoCD, flux}]: [string, HealthRow]): string =>
  `| *${name}* | ${means} | ${kstatus === 'Current' ? 'True' : 'False'} | ${condition ?? '-'} | ${kstatus} | ${argoCD} | ${flux} |\n`;

const intro = `<!-- Generated from operator/domain/reasons/reasons.ts by \`make crds\`. Do not edit. -->
# Reasons

This page lists every reason that a status can have, with its meaning and the next step. To find a reason, search this page for
the word in \`reason\`. A reason is in these fields:

- CustomDomain: \`status.hosts[].reason\` and \`status.conditions[].reason\`
- Project, Account and ApiKey: \`status.conditions[].reason\`

To show the reasons of all hostnames, run:

\`\`\`sh
kubectl doorplate status -A
\`\`\`

\`\`\`text output
NAMESPACE   HOSTNAME           CUSTOMDOMAIN   ROLE             PHASE   REASON        WAITING-FOR   SINCE
...
\`\`\`

Each reason has a message, which names the facts of the hostname and the next step.

## Kinds of reasons

The kind of a reason decides the conditions beside \`Ready\`, and the result of tools that wait. Argo CD and Flux need the checks of
[Manage domains with GitOps](../how-to/gitops.md).

| Kind | Means | Ready | Beside it | kstatus (Helm) | Argo CD | Flux |
|---|---|---|---|---|---|---|
${Object.entries(healthRows).map(kind).join('')}
- An awaited reason becomes stalled after 48 hours (\`propagationTime\`).
- \`EdgeUnreachable\` and \`EdgeNotServing\` become stalled after 2 minutes.
- A stalled reason is *ending* while the hostname is served.

## Texts on the page

The [Domains page](../how-to/page.md) and the property \`customer\` of the API show other texts to customers than status. Each reason
below has its text in the line *On the page*. Values replace the names in braces. If a value is not known, its sentence is absent
or has other words. Each title is unique, so you can find the reason for the title that a customer reads to you.
`;

function textOfPage(reason: ReasonName): string {
  const {title, body, next, howLong} = english.texts[reason];
  return [`"${title}".`, ...[body, next, howLong].map(shownTemplate)].filter((part) => part !== '').join(' ');
}

const section = ([name, r]: [
  string,
  Reason,
]): string => `${areas[name as ReasonName] ? `\n## ${areas[name as ReasonName]}\n` : ''}
### ${name}

${r.means}

- What to do: ${r.remedy}
- Waiting for: \`${r.waitingFor}\`. Kind: ${r.health}.
- On the page: ${textOfPage(name as ReasonName)}
`;

/** The page, whole. */
export const reasonsPage = (): string => intro + Object.entries(reasons).map(section).join('');
