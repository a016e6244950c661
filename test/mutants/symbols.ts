import {parseSync} from '@swc/core';

const typescript = {syntax: 'typescript', target: 'es2024'} as const;

/** swc's tree of a source of ours, with elements in it or without. Throws what swc says of one that it can't parse. */
export function parseSource(source: string): unknown {
  try {
    return parseSync(source, typescript);
  } catch (error) {
    try {
      return parseSync(source, {...typescript, tsx: true});
    } catch {
      throw error;
    }
  }
}

/** A piece of a source, from and to as indexes of its characters. */
export interface Span {
  start: number;
  end: number;
}

/** What of swc's tree is looked at here: it has spans in bytes, counted from wherever the module's own span begins. */
interface Node {
  type: string;
  span: Span;
  declaration?: Node;
  decl?: Node;
  declarations?: {id: Node}[];
  identifier?: {value: string};
  id?: {value?: string};
  value?: unknown;
  key?: {type: string; value?: unknown};
  body?: unknown;
}

interface Module {
  span: Span;
  body: Node[];
}

const modules = new Map<string, Module>();

/** The tree of a source, which is parsed once: many mutants are of the same one. */
function moduleOf(source: string): Module {
  const known = modules.get(source) ?? (parseSource(source) as Module);
  modules.set(source, known);
  return known;
}

/** The declaration in a statement, whether it is exported or not. */
const declarationIn = (statement: Node): Node => statement.declaration ?? statement.decl ?? statement;

function namesOf(declaration: Node): unknown[] {
  if (declaration.type === 'VariableDeclaration') return (declaration.declarations ?? []).map(({id}) => id.value);
  return [declaration.identifier?.value];
}

function memberName({type, key}: Node): unknown {
  if (type === 'Constructor') return 'constructor';
  return key?.type === 'PrivateName' ? `#${String(key.value)}` : key?.value;
}

/**
 * Where a source declares a symbol: a function, a class, a `const` at the top, or `Class.member`. More than one place where it is
 * overloaded, or read and set; none where it is not there. Throws what swc says of a source that it can't parse.
 */
export function places(source: string, symbol: string): Span[] {
  const [name, member] = symbol.split('.', 2);
  // A statement in front, because a module's span begins with its first statement, after any comment.
  const bytes = Buffer.from(`;${source}`);
  const {
    span: {start: origin},
    body,
  } = moduleOf(bytes.toString());
  const declared = body.filter((statement) => namesOf(declarationIn(statement)).includes(name));
  const found =
    member === undefined
      ? declared
      : declared
          .flatMap((statement) => declarationIn(statement))
          .filter(({type}) => type === 'ClassDeclaration')
          .flatMap(({body: members}) => (members as Node[]).filter((m) => memberName(m) === member));
  const characters = (offset: number): number => bytes.subarray(0, offset - origin).toString().length - 1;
  return found.map(({span}) => ({start: characters(span.start), end: characters(span.end)}));
}
