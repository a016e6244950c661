/** `docs/reference/http-api.md` out of the API's description of itself. */
import {type Description, inlined, type ApiOperation, type ApiSchema, typeOf} from '../http/openapi/docs-page.ts';
import {namespaceHeader} from '../http/gate/namespace-header.ts';

const cell = (text = ''): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const code = (text: string): string => `\`${text}\``;

/** The type in a cell. Values are code, so that they differ from words. */
const typeCell = (schema: ApiSchema): string => cell(typeOf(schema)).replaceAll(/"[^"]*"/g, code);

/** The schema of which a list is made. */
const inner = (schema: ApiSchema): ApiSchema => schema.items ?? schema;

/** A row for each field and its nested fields. */
function rows(schema: ApiSchema, path = ''): string[] {
  const of = inner(schema);
  return Object.entries(of.properties ?? {}).flatMap(([name, field]) => {
    const at = `${path}${name}${field.items ? '[]' : ''}`;
    const type = `${typeCell(field)}${of.required?.includes(name) ? '' : ', optional'}`;
    return [`| ${code(at)} | ${type} | ${cell(field.description)} |`, ...rows(field, `${at}.`)];
  });
}

const table = (lines: readonly string[]): string =>
  lines.length > 0 ? `\n| name | type | description |\n|---|---|---|\n${lines.join('\n')}\n` : '';

const bodyOf = (content: Record<string, {schema?: ApiSchema}> = {}): string =>
  Object.values(content)
    .map(({schema}) => (schema ? table(rows(schema)) : ''))
    .join('');

const titled = (title: string, text: string): string => (text === '' ? '' : `\n${title}:\n${text}`);

function operation(method: string, path: string, op: ApiOperation): string {
  const own = (op.parameters ?? []).filter(({name}) => name !== namespaceHeader);
  const parameters = own.map(({name, in: where, required, description, schema}) => {
    const type = `${where}, ${typeCell(schema ?? {})}${required ? '' : ', optional'}`;
    return `| ${code(name)} | ${type} | ${cell(description ?? schema?.description)} |`;
  });
  const [good, bad] = [true, false].map((wanted) =>
    Object.entries(op.responses ?? {}).filter(([status]) => Number(status) < 400 === wanted),
  );
  const answers = good!.map(
    ([status, {content, description}]) => `\n**${status}** ${description ?? ''}\n${bodyOf(content)}`,
  );
  return `
### ${method.toUpperCase()} ${path}

${op.summary ?? ''}. ${op.description ?? ''}
${titled('Parameters', table(parameters))}${titled('Body', bodyOf(op.requestBody?.content))}${answers.join('')}
Errors: ${bad!.map(([status]) => status).join(', ')}.
`.replaceAll(/ +$/gm, '');
}

/** The page, whole. */
export function httpApiPage(description: Description): string {
  const {info, paths = {}} = inlined(description);
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, op]) => ({tag: op.tags?.[0] ?? 'Others', text: operation(method, path, op)})),
  );
  const sections = [...Map.groupBy(all, ({tag}) => tag)].map(
    ([tag, of]) => `\n## ${tag}\n${of.map(({text}) => text).join('')}`,
  );
  return `<!-- Generated from operator/http by \`make crds\`. Do not edit. -->
# API operations

This page lists the paths of the HTTP API with their parameters, bodies and answers. A running API shows the same at \`GET /docs\`, and
returns it to programs at \`GET /openapi.json\` ([the OpenAPI document](openapi.json)). For the first steps, see [The API](api.md). For the
errors, see [API errors](errors.md).

${info.description ?? ''}
${sections.join('')}`;
}
