/** What `kubectl doorplate check` is told; `settings`: where the platform's are, `namespace/name`. */
export interface CheckCommandOptions {
  filename?: string[];
  project?: string;
  resolver?: string[];
  settings: string;
  output: string;
}
