/** `docs/reasons.md` out of the one table of reasons. */
import type {Reason} from '../domain/reasons.ts';
import {reasons} from '../domain/reasons.ts';

const parties: Readonly<Record<Reason['waitingFor'], string>> = {
  Customer: 'the customer',
  Platform: 'the platform',
  CertificateAuthority: 'the certificate authority',
  Nobody: '-',
};

const intro = `<!-- Generated from operator/domain/reasons.ts by \`make crds\`. Do not edit. -->
# Reasons

Every reason that a status may give: in \`status.hosts[].reason\` and in \`status.conditions[].reason\` of a CustomDomain, and in
\`status.conditions[].reason\` of a Project or an Account. \`kubectl get customdomain NAME -o yaml\` shows them, each with a message that names what was
seen and what to do.

**Kind** is how a tool that waits should take it. *pending*: the condition \`Reconciling\` stands, it is on its way. *stalled*: the condition
\`Stalled\` stands, somebody must act; it heals itself as soon as the cause is gone. *done*: neither. What is pending becomes stalled when it
lasts: a DNS record that is awaited after 48 hours (\`propagationTime\`), \`EdgeUnreachable\` and \`EdgeNotServing\` after 2 minutes.

| Reason | Means | What to do | Whose turn | Kind |
|---|---|---|---|---|
`;

const cell = (text: string) => text.replaceAll('|', '\\|');

/** The page, whole. */
export function reasonsPage(): string {
  return (
    intro +
    Object.entries(reasons)
      .map(
        ([name, r]) =>
          `| \`${name}\` | ${cell(r.means)} | ${cell(r.remedy)} | ${parties[r.waitingFor]} | ${r.health} |\n`,
      )
      .join('')
  );
}
