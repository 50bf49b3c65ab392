import { type Concept, conceptKey, type Row, type TypedValue, typedValueOf } from './concepts.ts';
import { orderOf } from './expressions.ts';
import { impossible } from './refusal.ts';
import type { Reduction } from './syntax.ts';

/** One row per group, with the results of the reductions; without groups one row, even for no rows. */
export function reduceRows(rows: readonly Row[], reductions: readonly Reduction[], groupBy: readonly string[]): Row[] {
  const groups = new Map<string, Row[]>();
  if (groupBy.length === 0) groups.set('[]', []);
  for (const row of rows) {
    const key = JSON.stringify(groupBy.map((variable) => keyOf(row.get(variable))));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups.values()].map((group) => {
    const result = new Map<string, Concept>();
    for (const variable of groupBy) {
      const concept = group[0]?.get(variable);
      if (concept !== undefined) result.set(variable, concept);
    }
    for (const reduction of reductions) {
      const reduced = reduceGroup(group, reduction);
      if (reduced !== undefined) result.set(reduction.variable, { concept: 'value', ...reduced });
    }
    return result;
  });
}

/** Undefined if there is nothing to take a minimum, maximum or mean of. */
function reduceGroup(group: readonly Row[], { reducer, of }: Reduction): TypedValue | undefined {
  if (reducer === 'count') {
    const count = of === undefined ? group.length : group.filter((row) => row.has(of)).length;
    return { valueType: 'integer', value: count };
  }
  const values = group.flatMap((row) => typedValue(row, of ?? ''));
  if (reducer === 'min' || reducer === 'max') return extreme(values, reducer);
  const numbers = values.map(({ value, valueType }) => {
    if (typeof value !== 'number') throw impossible(`${reducer} takes numbers, not ${valueType}`);
    return value;
  });
  const sum = numbers.reduce((total, number) => total + number, 0);
  if (reducer === 'mean')
    return numbers.length === 0 ? undefined : { valueType: 'double', value: sum / numbers.length };
  return { valueType: values.every(({ valueType }) => valueType === 'integer') ? 'integer' : 'double', value: sum };
}

function typedValue(row: Row, variable: string): TypedValue[] {
  const concept = row.get(variable);
  const value = concept === undefined ? undefined : typedValueOf(concept);
  return value === undefined ? [] : [value];
}

function extreme(values: readonly TypedValue[], which: 'min' | 'max'): TypedValue | undefined {
  let best: TypedValue | undefined;
  for (const value of values) {
    const order = best === undefined ? undefined : orderOf(value, best);
    if (best === undefined || (order !== undefined && (which === 'min' ? order < 0 : order > 0))) best = value;
  }
  return best;
}

export const keyOf = (concept: Concept | undefined): string => (concept === undefined ? '' : conceptKey(concept));
