/** What a source of ours looks like: what it imports, how long its functions are. By swc's parser, not by its text. */
import {parseSource} from '../mutants/symbols.ts';

interface Node {
  type?: string;
  span?: {start: number; end: number};
  [property: string]: unknown;
}

function* nodesOf(tree: unknown): Generator<Node> {
  if (tree === null || typeof tree !== 'object') return;
  if (!Array.isArray(tree) && 'type' in tree) yield tree as Node;
  for (const child of Object.values(tree)) yield* nodesOf(child);
}

/** What a source imports, whatever form it takes: static, of types alone, re-exported, dynamic. */
export function importsOf(source: string): string[] {
  return [...nodesOf(parseSource(source))].flatMap((node) => {
    const isDynamic = node.type === 'CallExpression' && (node.callee as Node).type === 'Import';
    const from = isDynamic
      ? (node.arguments as {expression: Node}[])[0]?.expression
      : (node.source as Node | undefined);
    return from?.type === 'StringLiteral' ? [String(from.value)] : [];
  });
}

const functions =
  /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression|ClassMethod|PrivateMethod|Constructor)$/;

/** How many lines each function of a source has, with where it begins. */
export function functionsOf(source: string): {line: number; lines: number}[] {
  // A statement in front, because a module's span begins with its first statement, after any comment. Spans are in bytes.
  const bytes = Buffer.from(`;${source}`);
  const tree = parseSource(bytes.toString()) as Node & {span: {start: number}};
  const lineAt = (offset: number) =>
    bytes
      .subarray(0, offset - tree.span.start)
      .toString()
      .split('\n').length;
  return [...nodesOf(tree)].flatMap(({type = '', span}) =>
    span && functions.test(type) ? [{line: lineAt(span.start), lines: lineAt(span.end) - lineAt(span.start) + 1}] : [],
  );
}

/** Each way by which a file imports itself in the end, the shortest from each file that is on one. */
export function circlesOf(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  return [...imports.keys()].flatMap((start) => {
    const ways = [[start]];
    const seen = new Set<string>();
    for (let way = ways.shift(); way; way = ways.shift()) {
      for (const next of imports.get(way.at(-1)!) ?? []) {
        if (next === start) return [[...way, next]];
        if (seen.has(next)) continue;
        seen.add(next);
        ways.push([...way, next]);
      }
    }
    return [];
  });
}

/** Variables that a function declares by `let` and a function inside it assigns: by name, in the order of the assignments. */
export function assignedByClosures(source: string): string[] {
  const found: string[] = [];
  const visit = (tree: unknown, scopes: readonly ReadonlySet<string>[]): void => {
    if (tree === null || typeof tree !== 'object') return;
    const node = tree as Node;
    const inner = functions.test(node.type ?? '') ? [...scopes, declaredIn(node)] : scopes;
    const target = (
      node.type === 'AssignmentExpression' ? node.left : node.type === 'UpdateExpression' && node.argument
    ) as Node | undefined | false;
    if (target && target.type === 'Identifier') {
      const name = String(target.value);
      const at = inner.findLastIndex((names) => names.has(name));
      if (at >= 0 && at < inner.length - 1) found.push(name);
    }
    for (const child of Object.values(node)) visit(child, inner);
  };
  visit(parseSource(source), []);
  return found;
}

/** The names that a function declares in its parameters and statements, without those of the functions inside it. */
function declaredIn(of: Node): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (tree: unknown): void => {
    if (tree === null || typeof tree !== 'object') return;
    const node = tree as Node;
    if (node !== of && functions.test(node.type ?? '')) return;
    if (node.type === 'VariableDeclarator' || node.type === 'Parameter') bind(node.id ?? node.pat, names);
    for (const child of Object.values(node)) visit(child);
  };
  visit(of);
  return names;
}

/** Adds the names that a pattern binds. */
function bind(pattern: unknown, names: Set<string>): void {
  for (const node of nodesOf(pattern)) if (node.type === 'Identifier') names.add(String(node.value));
}
