import packageJson from '../package.json' with {type: 'json'};

/** The release that this source belongs to, by the rules of docs/reference/versions.md. `package.json` is its one source. */
export const version: string = packageJson.version;
