/** `docs/kinds.md` out of the CustomResourceDefinitions: the reference, as `kubectl explain` has it. */
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
# The kinds

All of them are of \`${group}/${version}\`. \`kubectl explain customdomain.spec\` says the same on a cluster. A field that is not optional
has to be given, and what the API server refuses stands behind *Refused*. The status is Doorplate's; tenants can't write it.
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
  return `\n### ${kind}: ${name}\n\n${schema.description ?? ''}\n\n| field | type | what it is |\n|---|---|---|\n${table}\n`;
}

function section(kind: CustomKind): string {
  const {spec} = crd(kind) as {spec: {versions: [{schema: {openAPIV3Schema: KindSchema}}]}};
  const schema = spec.versions[0].schema.openAPIV3Schema;
  const {spec: ofSpec, status} = schema.properties ?? {};
  const names = [kind.plural, ...kind.shortNames].map((name) => `\`kubectl get ${name}\``).join(' or ');
  const refused = [...new Set(refusals({...schema, properties: {spec: ofSpec!}}))].map((message) => `- ${message}`);
  return `
## ${kind.kind}

${kind.description} ${kind.scope === 'Cluster' ? 'Of the whole cluster' : 'In a namespace'}; ${names}.
${part(kind.kind, 'spec', ofSpec)}${refused.length > 0 ? `\nRefused:\n\n${refused.join('\n')}\n` : ''}${part(kind.kind, 'status', status)}`;
}

/** The page, whole. */
export const kindsPage = (kinds: readonly CustomKind[]): string => intro + kinds.map(section).join('');
