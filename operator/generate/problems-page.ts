import {problemBase, problems} from '../http/problems.ts';

/** docs/reference/errors.md out of the table of problems. */
export function problemsPage(): string {
  const sections = Object.entries(problems).map(
    ([name, {status, title, means, remedy}]) =>
      `## ${name}\n\n**${status}** ${title}. ${means}\n\nWhat to do: ${remedy}\n`,
  );
  return `<!-- Generated from operator/http/problems.ts by \`make crds\`. Do not edit. -->
# API errors

This page lists every error of the HTTP API, with its cause and the next step. Errors are \`application/problem+json\` (RFC 9457):

- \`type\` is \`${problemBase}\` and one of the names below. It never changes, so compare it in programs.
- \`detail\` describes this error and the next step.
- \`help\` links to the text of this page.

Each answer, errors too, has \`X-Request-Id\` and the headers of the [rate limit](api-limits.md).

${sections.join('\n')}`;
}
