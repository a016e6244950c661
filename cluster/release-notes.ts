/**
 * Prints the notes of a release: the section of CHANGELOG.md about the version of package.json. Links to files of the repository become
 * addresses at the tag of that version, because the page of a GitHub release has no files beside it.
 *
 *   node cluster/release-notes.ts      exits 1 if the changelog has no section of that version
 */
import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import packageJson from '../package.json' with {type: 'json'};

/** The text below the heading of a version. `repository`: its address, without a slash at the end. Throws if the version has no section. */
export function notesOf(changelog: string, version: string, repository: string): string {
  const sections = changelog.split(/^(?=## |\[[^\]]+\]: )/m);
  const section = sections.find((text) => text.startsWith(`## [${version}] `));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## [${version}] - DATE". Write it first`);
  const [, ...lines] = section.split('\n');
  // GitHub shows each line break of a release's notes.
  const text = lines.join('\n').replaceAll(/\n {2}(?=\S)/g, ' ');
  return `${text.replaceAll(/\]\((?![a-z]+:)([^)]+)\)/g, `](${repository}/blob/v${version}/$1)`).trim()}\n`;
}

/** The repository's address: in a workflow of GitHub its own, else package.json's. */
const repository = ({GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name} = process.env): string =>
  server && name ? `${server}/${name}` : packageJson.repository.url.replace(/^git\+|\.git$/g, '');

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const changelog = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8');
  process.stdout.write(notesOf(changelog, packageJson.version, repository()));
}
