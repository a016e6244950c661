import {problemBase, problems} from '../http/problems.ts';

/** docs/reference/errors.md out of the table of problems. */
export function problemsPage(): string {
  const sections = Object.entries(problems).map(
    ([name, {status, title, means, remedy}]) =>
      `## ${name}\n\n**${status}** ${title}. ${means}\n\nWhat to do: ${remedy}\n`,
  );
  return `<!-- Generated from operator/http/problems.ts by \`make crds\`. Do not edit. -->
# The errors of the API

Every error is \`application/problem+json\` (RFC 9457). Its \`type\` is \`${problemBase}\` and one of the names below; it never
changes. \`detail\` says what happened and what to do; \`help\` links to what stands here. Every answer, errors too, carries
\`X-Request-Id\` and the headers of the rate limit.

${sections.join('\n')}`;
}
