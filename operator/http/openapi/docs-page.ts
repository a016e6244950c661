/** Pages for people, each one HTML document without a script: the reference, made of the OpenAPI description, and one for each problem. */
import {type ProblemName, problems} from '../problems.ts';

export interface ApiSchema {
  type?: string;
  description?: string;
  properties?: Record<string, ApiSchema>;
  required?: string[];
  items?: ApiSchema;
  enum?: unknown[];
  nullable?: boolean;
}

export interface ApiOperation {
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: {name: string; in: string; required?: boolean; schema?: ApiSchema; description?: string}[];
  requestBody?: {content?: Record<string, {schema?: ApiSchema}>};
  responses?: Record<string, {description?: string; content?: Record<string, {schema?: ApiSchema}>}>;
}

export interface Description {
  info: {title: string; version: string; description?: string};
  paths?: Record<string, Record<string, ApiOperation>>;
}

/** The description with each reference replaced by what it refers to. */
export function inlined(description: Description): Description {
  const whole = description as unknown as Record<string, unknown>;
  const visit = (tree: unknown): unknown => {
    if (Array.isArray(tree)) return tree.map(visit);
    if (typeof tree !== 'object' || tree === null) return tree;
    const {$ref, allOf, ...beside} = tree as {$ref?: unknown; allOf?: unknown};
    if (typeof $ref === 'string') {
      const path = $ref.split('/').slice(1);
      return visit(path.reduce((at, name) => at[name] as Record<string, unknown>, whole));
    }
    const rest = Object.fromEntries(Object.entries(beside).map(([name, each]) => [name, visit(each)]));
    return Array.isArray(allOf) ? Object.assign({}, ...(visit(allOf) as object[]), rest) : rest;
  };
  return visit({...description, components: undefined}) as Description;
}

const entities: Record<string, string> = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'};
const escape = (text: unknown): string => String(text).replace(/[&<>"']/g, (c) => entities[c]!);
/** A text with its `code`. */
const inline = (text = ''): string => escape(text).replace(/`([^`]+)`/g, '<code>$1</code>');
const prose = (text = ''): string =>
  text
    .split('\n\n')
    .map((p) => `<p>${inline(p)}</p>`)
    .join('');

export function typeOf({type = 'any', enum: values, items, nullable}: ApiSchema): string {
  if (nullable) return `${typeOf({type, enum: values, items})} | null`;
  if (values) return values.map((v) => JSON.stringify(v)).join(' | ');
  return items ? `${typeOf(items)}[]` : type;
}

const item = (name: string, type: string, required = false): string =>
  `<li><code>${escape(name)}</code> <i>${escape(type)}</i>${required ? '' : ' (optional)'}`;

/** The fields of an object as a list, and theirs below them. */
function fields(schema: ApiSchema): string {
  const of = schema.items ?? schema;
  const rows = Object.entries(of.properties ?? {}).map(
    ([name, field]) =>
      `${item(name, typeOf(field), of.required?.includes(name))} ${inline(field.description)}${fields(field)}</li>`,
  );
  return rows.length > 0 ? `<ul>${rows.join('')}</ul>` : '';
}

const bodyOf = (content: Record<string, {schema?: ApiSchema}> = {}): string =>
  Object.values(content)
    .map(({schema}) => (schema ? fields(schema) : ''))
    .join('');

function operation(method: string, path: string, op: ApiOperation): string {
  const parameters = (op.parameters ?? []).map(
    ({name, in: where, required, description, schema}) =>
      `${item(name, `${where}, ${typeOf(schema ?? {})}`, required)} ${inline(description ?? schema?.description)}</li>`,
  );
  const [good, bad] = [true, false].map((wanted) =>
    Object.entries(op.responses ?? {}).filter(([status]) => Number(status) < 400 === wanted),
  );
  const answers = good!.map(
    ([status, {content, description}]) => `<h4>${escape(status)} ${inline(description)}</h4>${bodyOf(content)}`,
  );
  const title = `<h3><code>${escape(method.toUpperCase())} ${escape(path)}</code></h3>`;
  const errors = `<p>Errors: ${bad!.map(([status]) => escape(status)).join(', ')}</p>`;
  return `<section>${title}<p>${escape(op.summary ?? '')}</p>${prose(op.description)}
${parameters.length > 0 ? `<h4>Parameters</h4><ul>${parameters.join('')}</ul>` : ''}
${op.requestBody ? `<h4>Body</h4>${bodyOf(op.requestBody.content)}` : ''}${answers.join('')}${errors}</section>`;
}

const style = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}
section{border-top:1px solid #8886;margin-top:2rem}code{font-size:.95em}h3{overflow-wrap:anywhere}li{margin:.2rem 0}`;

const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(title)}</title><style>${style}</style></head><body>${body}</body></html>`;

/** The page about a problem: its meaning and its remedy. */
export function problemPage(name: ProblemName): string {
  const {status, title, means, remedy} = problems[name];
  return page(
    title,
    `<h1>${escape(title)}</h1><p><code>${status} ${escape(name)}</code></p>${prose(means)}
<h2>What to do</h2>${prose(remedy)}<p><a href="/docs">All operations of the API</a></p>`,
  );
}

export function docsPage(description: Description): string {
  const {info, paths = {}} = inlined(description);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, op]) => operation(method, path, op)),
  );
  return page(
    info.title,
    `<h1>${escape(info.title)} ${escape(info.version)}</h1>
${prose(info.description)}<p>Programs read the same from <a href="/openapi.json">openapi.json</a>.</p>${operations.join('\n')}`,
  );
}
