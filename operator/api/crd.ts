/**
 * CustomResourceDefinitions out of the zod schemas; `../generate/generate.ts` writes them down.
 *
 * The schemas become structural (KEP-1979) by rules of our own, checked by {@link lint}: every field is described
 * (`kubectl explain` is the reference), every string and list is bounded (CEL cost), nothing refers elsewhere.
 */
import {z} from 'zod';

export const group = 'doorplate.dev';
export const version = 'v1alpha1';

/** One column of `kubectl get`; `wide` ones show with `-o wide`. */
export interface Column {
  name: string;
  jsonPath: string;
  type?: string;
  wide?: boolean;
}

/** The parts of a CustomResourceDefinition. */
export interface CustomKind {
  kind: string;
  plural: string;
  singular: string;
  /** Each begins with `dp`: kubectl takes a short name that two groups have for either kind. */
  shortNames: string[];
  /** Namespaced by default. */
  scope?: 'Cluster';
  description: string;
  columns: Column[];
  spec: z.ZodType;
  /** Absent where nothing is ever said of an object: then nobody waits for a status either (kstatus). */
  status?: z.ZodType;
  /** False: the status is written together with the spec, in one request. */
  statusSubresource?: false;
  /** Fields by which `kubectl get --field-selector` selects, besides the name and the namespace. */
  selectable?: string[];
  /** Rules about the object as a whole, including its name (CEL over `self`). */
  rules?: {cel: string; message: string}[];
  examples: string[];
}

interface CrdSchema {
  [key: string]: unknown;
  type?: string;
  properties?: Record<string, CrdSchema>;
  items?: CrdSchema;
}

function structural(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(structural);
  if (node === null || typeof node !== 'object') return node;
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === 'additionalProperties' || value === undefined) continue;
    out[key] = structural(value);
  }
  if ('substitute' in out) {
    out.default = out.substitute;
    delete out.substitute;
  }
  if (out['x-kubernetes-int-or-string']) {
    delete out.anyOf;
    delete out.type;
  }
  if (out.type === 'integer' && out.minimum === -(2 ** 31)) {
    out.format = 'int32';
    delete out.minimum;
    delete out.maximum;
  }
  // zod bounds an integer to those that a number holds exactly.
  if (out.type === 'integer' && out.maximum === Number.MAX_SAFE_INTEGER) {
    out.format = 'int64';
    delete out.maximum;
    if (out.minimum === Number.MIN_SAFE_INTEGER) delete out.minimum;
  }
  return out;
}

function toSchema(type: z.ZodType): CrdSchema {
  return structural(z.toJSONSchema(type, {target: 'openapi-3.0', io: 'input', unrepresentable: 'throw'})) as CrdSchema;
}

/** Violations of our rules in a structural schema, each with its path. */
export function lint(schema: CrdSchema, path: string): string[] {
  const wrong: string[] = [];
  if (!schema.description) wrong.push(`${path}: no description`);
  if (schema.type === 'string' && !schema.enum && schema.maxLength === undefined)
    wrong.push(`${path}: a string without maxLength`);
  if (schema.type === 'array' && schema.maxItems === undefined) wrong.push(`${path}: a list without maxItems`);
  if (schema.$ref || schema.oneOf || schema.anyOf || schema.allOf) wrong.push(`${path}: not structural`);
  if (!schema.type && !schema['x-kubernetes-int-or-string']) wrong.push(`${path}: no type`);
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    wrong.push(...lint(property, `${path}.${name}`));
  if (schema.items) wrong.push(...lint(schema.items, `${path}[]`));
  return wrong;
}

/** The CustomResourceDefinition of a kind, as an object. Throws with a list when the schema breaks {@link lint}. */
export function crd(kind: CustomKind): Record<string, unknown> {
  const status = kind.status && toSchema(kind.status);
  // On the status itself: a nested default is skipped when the parent is absent (kstatus reads observedGeneration).
  const subresource = status !== undefined && kind.statusSubresource !== false;
  if (subresource) status.default = {observedGeneration: -1};
  const schema = {
    description: kind.description,
    type: 'object',
    required: ['spec'],
    ...(kind.rules && {'x-kubernetes-validations': kind.rules.map(({cel, message}) => ({rule: cel, message}))}),
    properties: {spec: toSchema(kind.spec), ...(status && {status})},
  };
  const wrong = lint(schema as CrdSchema, kind.kind);
  if (wrong.length > 0) throw new Error(`the schema of ${kind.kind} breaks the rules:\n  ${wrong.join('\n  ')}`);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${kind.plural}.${group}`,
      labels: {'app.kubernetes.io/name': 'doorplate', 'app.kubernetes.io/part-of': 'doorplate'},
      // An uninstalled chart must not take every customer's domains with it. Flux's Kustomization reads its own annotation only.
      annotations: {'helm.sh/resource-policy': 'keep', 'kustomize.toolkit.fluxcd.io/prune': 'disabled'},
    },
    spec: {
      group,
      scope: kind.scope ?? 'Namespaced',
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.singular,
        shortNames: kind.shortNames,
        categories: ['doorplate'],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          ...(subresource && {subresources: {status: {}}}),
          additionalPrinterColumns: kind.columns.map(({name, jsonPath, type = 'string', wide}) => ({
            name,
            type,
            jsonPath,
            ...(wide && {priority: 1}),
          })),
          ...(kind.selectable && {selectableFields: kind.selectable.map((jsonPath) => ({jsonPath}))}),
          schema: {openAPIV3Schema: schema},
        },
      ],
    },
  };
}
