/** Options of `kubectl doorplate check`. `settings`: location of the platform's settings, `namespace/name`. */
export interface CheckCommandOptions {
  filename?: string[];
  project?: string;
  resolver?: string[];
  settings: string;
  output: string;
}
