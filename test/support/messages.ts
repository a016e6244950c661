import {parseSource} from '../mutants/symbols.ts';

/** Texts with fewer words are names, values and labels, not sentences. */
const fewestWords = 5;

/** The fields of swc's nodes that hold text. Other fields are visited without knowledge of their types. */
interface TextNode {
  type?: string;
  value?: unknown;
  operator?: string;
  left?: TextNode;
  right?: TextNode;
  quasis?: {cooked?: string; raw: string}[];
  expressions?: TextNode[];
}

const isJoin = ({type, operator}: TextNode): boolean => type === 'BinaryExpression' && operator === '+';

/** The operands of `a + b + c`, in order. Parentheses are part of swc's tree. */
function operands(node: TextNode): TextNode[] {
  if (node.type === 'ParenthesisExpression') return operands((node as {expression?: TextNode}).expression ?? {});
  return isJoin(node) ? [node.left ?? {}, node.right ?? {}].flatMap(operands) : [node];
}

/** The text of a literal, with `{}` in place of each value. Undefined for other nodes. */
function literalText({type, value, quasis}: TextNode): string | undefined {
  if (type === 'StringLiteral') return String(value);
  return type === 'TemplateLiteral' ? (quasis ?? []).map(({cooked, raw}) => cooked ?? raw).join('{}') : undefined;
}

function joinedText(node: TextNode): string | undefined {
  const parts = operands(node).map(literalText);
  return parts.every((part) => part === undefined) ? undefined : parts.map((part) => part ?? '{}').join('');
}

/** The nodes below a node whose texts are separate: the values in a template and, in a sum, the operands without text. */
function below(node: TextNode): unknown[] {
  if (node.type === 'TemplateLiteral') return node.expressions ?? [];
  if (isJoin(node)) {
    return operands(node).flatMap((operand) => (literalText(operand) === undefined ? [operand] : below(operand)));
  }
  return node.type === 'ImportDeclaration' ? [] : Object.values(node);
}

/**
 * The texts for people in a source file: its string and template literals of at least five words, in order, with `{}` in place of each
 * value of a template. Literals that are joined by `+` are one text. Throws the error of swc for a source that is not TypeScript.
 */
export function messagesOf(source: string): string[] {
  const found: string[] = [];
  const visit = (node: unknown): void => {
    if (node === null || typeof node !== 'object') return;
    const text = Array.isArray(node) ? undefined : joinedText(node);
    if (text !== undefined && (text.match(/[A-Za-z'][\w'.]*/g) ?? []).length >= fewestWords) found.push(text);
    for (const part of Array.isArray(node) ? node : below(node)) visit(part);
  };
  visit(parseSource(source));
  return found;
}
