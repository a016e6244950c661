/** `docs/reference/kinds.md` out of the CustomResourceDefinitions: the reference, as `kubectl explain` has it. */
import {crd, group, version, type CustomKind} from '../api/crd.ts';

interface KindSchema {
  type?: string;
  description?: string;
  properties?: Record<string, KindSchema>;
  required?: string[];
  items?: KindSchema;
  enum?: unknown[];
  default?: unknown;
  nullable?: boolean;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-validations'?: {message?: string}[];
}

const intro = `<!-- Generated from operator/api by \`make crds\`. Do not edit. -->
# Kinds

This page lists the fields of all kinds of \`${group}/${version}\`. On a cluster, \`kubectl explain customdomain.spec\` shows the
same texts.

- Fields without the word *optional* are required.
- *Refused* lists the messages of the API server about values that it refuses.
- Doorplate writes the status. Tenants cannot write it.

## Names

All kinds are in the category \`doorplate\`. To list the objects of all kinds, run:

\`\`\`sh
kubectl get doorplate -A
\`\`\`

\`\`\`text output
NAMESPACE   NAME                               HOST                                       DEPLOYED   READY   REASON    AGE
acme        project.doorplate.dev/docs         docs-acme-k3v9x2m4q7w1z.apps.example.net   True       True    Serving   5h
...
\`\`\`

Other products have kinds with the plural \`projects\`, \`plans\`, \`accounts\` or \`apikeys\`. If your cluster has one of them,
\`kubectl get projects\` can list the other kind. The full name, such as \`projects.${group}\`, always names Doorplate's kind.
The short name, such as \`dpproj\`, does the same. All short names begin with \`dp\`.

An \`ApiKey\` is a key to the platform's API. In manifests, write \`kind: ApiKey\`, although Kubernetes writes abbreviations in capitals
(\`APIService\`). The name of a kind cannot change.

The ending of a field's name shows the meaning of a time:

| ending | time | examples |
|---|---|---|
| \`...At\` | the time of an action | \`verifiedAt\`, \`liveAt\` |
| \`since\`, \`...Since\` | the start of the current state | \`since\`, \`negativeSince\` |
| \`...Until\`, \`notAfter\` | the end of the current state | \`servedUntil\`, \`quarantinedUntil\` |
| \`...From\` | the start of the next state | \`refusedFrom\` |
| \`...Time\` | an event, with the names of Kubernetes | \`lastTransitionTime\`, \`firstDeployTime\`, \`expireTime\` |

\`lastHandledReconcileAt\` and \`lastHandledReissueAt\` repeat the value of an annotation, which can be any text.
`;

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function typeOf(schema: KindSchema): string {
  if (schema['x-kubernetes-int-or-string']) return 'integer or string';
  if (schema.enum) return schema.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (schema.items) return schema.items.properties ? 'list' : `list of ${typeOf(schema.items)}`;
  return schema.type ?? '';
}

/** Describes the allowed values in a few words. */
function boundsOf({minimum, maximum, maxLength, maxItems, default: fallback}: KindSchema): string[] {
  const range = [minimum, maximum].every((n) => n !== undefined) ? [`${minimum} to ${maximum}`] : [];
  return [
    ...range,
    ...(range.length === 0 && minimum !== undefined ? [`at least ${minimum}`] : []),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(maxItems === undefined ? [] : [`at most ${maxItems}`]),
    ...(fallback === undefined || typeof fallback === 'object' ? [] : [`default \`${String(fallback)}\``]),
  ];
}

/** A row for each field and its nested fields. */
function rows(schema: KindSchema, path: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const at = `${path}${name}${field.items?.properties ? '[]' : ''}`;
    // The API server replaces null by the default.
    const isNullable = field.nullable || field.default !== undefined;
    const optional = schema.required?.includes(name) ? [] : [isNullable ? 'optional, or null' : 'optional'];
    const type = [typeOf(field), ...optional, ...boundsOf(field)].join('; ');
    return [
      `| \`${at}\` | ${cell(type)} | ${cell(field.description ?? '')} |`,
      ...rows(field.items?.properties ? field.items : field, `${at}.`),
    ];
  });
}

/** Messages of rules over fields, as the API server shows them, from the whole schema. */
const refusals = (schema: KindSchema): string[] => [
  ...(schema['x-kubernetes-validations'] ?? []).flatMap(({message}) => message ?? []),
  ...Object.values(schema.properties ?? {}).flatMap(refusals),
  ...(schema.items ? refusals(schema.items) : []),
];

function part(kind: string, name: 'spec' | 'status', schema: KindSchema | undefined): string {
  if (!schema) return '';
  const table = rows(schema, '').join('\n');
  return `\n### ${kind}: ${name}\n\n${schema.description ?? ''}\n\n| field | type | description |\n|---|---|---|\n${table}\n`;
}

function section(kind: CustomKind): string {
  const {spec} = crd(kind) as {spec: {versions: [{schema: {openAPIV3Schema: KindSchema}}]}};
  const schema = spec.versions[0].schema.openAPIV3Schema;
  const {spec: ofSpec, status} = schema.properties ?? {};
  const names = [`${kind.plural}.${group}`, ...kind.shortNames].map((name) => `\`kubectl get ${name}\``).join(' or ');
  const selectors = (kind.selectable ?? []).map((path) => `\`--field-selector ${path.slice(1)}=VALUE\``);
  const selected = selectors.length > 0 ? ` Select objects with ${selectors.join(' or ')}.` : '';
  const refused = [...new Set(refusals({...schema, properties: {spec: ofSpec!}}))].map((message) => `- ${message}`);
  return `
## ${kind.kind}

${kind.description}

Scope: ${kind.scope === 'Cluster' ? 'cluster' : 'namespace'}. List with ${names}.${selected}
${part(kind.kind, 'spec', ofSpec)}${refused.length > 0 ? `\nRefused:\n\n${refused.join('\n')}\n` : ''}${part(kind.kind, 'status', status)}`;
}

/** The page, whole. */
export const kindsPage = (kinds: readonly CustomKind[]): string => intro + kinds.map(section).join('');
