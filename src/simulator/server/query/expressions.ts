import { type Row, type TypedValue, typedValueOf } from './concepts.ts';
import { impossible } from './refusal.ts';
import type { Comparator, Expression } from './syntax.ts';

/** The value of an expression in a row. All its variables must be bound. */
export function evaluate(expression: Expression, row: Row): TypedValue {
  switch (expression.expression) {
    case 'literal':
      return { valueType: expression.valueType, value: expression.value };
    case 'variable': {
      const concept = row.get(expression.variable);
      const value = concept === undefined ? undefined : typedValueOf(concept);
      if (value === undefined) throw impossible(`$${expression.variable} has no value`);
      return value;
    }
    case 'arithmetic':
      return calculate(expression.operator, evaluate(expression.left, row), evaluate(expression.right, row));
  }
}

export function variablesOf(expression: Expression): readonly string[] {
  switch (expression.expression) {
    case 'literal':
      return [];
    case 'variable':
      return [expression.variable];
    case 'arithmetic':
      return [...variablesOf(expression.left), ...variablesOf(expression.right)];
  }
}

function calculate(operator: '+' | '-' | '*' | '/', left: TypedValue, right: TypedValue): TypedValue {
  if (typeof left.value !== 'number' || typeof right.value !== 'number') {
    throw impossible(`${operator} takes numbers, not ${left.valueType} and ${right.valueType}`);
  }
  const isWhole = left.valueType === 'integer' && right.valueType === 'integer' && operator !== '/';
  return { valueType: isWhole ? 'integer' : 'double', value: compute(operator, left.value, right.value) };
}

function compute(operator: '+' | '-' | '*' | '/', left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      if (right === 0) throw impossible('Division by zero');
      return left / right;
  }
}

/** Reports whether the comparison holds. Values of different kinds are never equal and cannot be ordered. */
export function compares(left: TypedValue, comparator: Comparator, right: TypedValue): boolean {
  const order = orderOf(left, right);
  switch (comparator) {
    case '==':
      return order === 0;
    case '!=':
      return order !== 0;
    case '<':
      return order !== undefined && order < 0;
    case '<=':
      return order !== undefined && order <= 0;
    case '>':
      return order !== undefined && order > 0;
    case '>=':
      return order !== undefined && order >= 0;
  }
}

/** Negative, zero or positive; undefined if there is no order. Times are compared as they are written. */
export function orderOf(left: TypedValue, right: TypedValue): number | undefined {
  if (typeof left.value !== typeof right.value) return undefined;
  if (typeof left.value !== 'number' && left.valueType !== right.valueType) return undefined;
  return left.value < right.value ? -1 : left.value > right.value ? 1 : 0;
}
