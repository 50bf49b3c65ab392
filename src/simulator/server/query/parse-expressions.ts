import { COMPARATORS, type Comparator, type Expression } from './syntax.ts';
import type { TokenStream } from './token-stream.ts';

/** Sums of products of literals, variables and parentheses. */
export function parseExpression(stream: TokenStream): Expression {
  return parseChain(stream, ['+', '-'], () => parseChain(stream, ['*', '/'], () => parseOperand(stream)));
}

type Operator = Extract<Expression, { expression: 'arithmetic' }>['operator'];

function parseChain(stream: TokenStream, operators: readonly Operator[], part: () => Expression): Expression {
  let left = part();
  for (;;) {
    const operator = operators.find((candidate) => stream.accept(candidate));
    if (operator === undefined) return left;
    left = { expression: 'arithmetic', operator, left, right: part() };
  }
}

function parseOperand(stream: TokenStream): Expression {
  if (stream.accept('(')) {
    const inner = parseExpression(stream);
    stream.expect(')');
    return inner;
  }
  const negative = stream.accept('-');
  const token = stream.peek();
  if (token.type === 'variable' && !negative) return { expression: 'variable', variable: stream.variable() };
  if (token.type !== 'literal' || (negative && typeof token.value !== 'number')) throw stream.unexpected('a value');
  stream.take();
  const value = negative ? -Number(token.value) : token.value;
  return { expression: 'literal', valueType: token.valueType, value };
}

export function acceptComparator(stream: TokenStream): Comparator | undefined {
  return COMPARATORS.find((comparator) => stream.accept(comparator));
}
