import { variablesOf } from './expressions.ts';
import type { Pattern, Reference } from './syntax.ts';
import { isAnonymous } from './token-stream.ts';

/** The variables that a match, or what it inserts, adds to its answers, except those only used in a negation. */
export function columnsOf(patterns: readonly Pattern[]): readonly string[] {
  return [...new Set(patterns.flatMap(variables))].filter((variable) => !isAnonymous(variable));
}

function variables(pattern: Pattern): readonly string[] {
  switch (pattern.pattern) {
    case 'isa':
      return [pattern.variable, ...ofReference(pattern.type)];
    case 'iid':
    case 'kind':
    case 'label':
      return [pattern.variable];
    case 'has':
      return [
        pattern.owner,
        ...('variable' in pattern.value ? [pattern.value.variable] : variablesOf(pattern.value.operand)),
      ];
    case 'links':
      return [pattern.relation, ...pattern.players.map(({ player }) => player)];
    case 'compare':
      return [...variablesOf(pattern.left), ...variablesOf(pattern.right)];
    case 'let':
      return [pattern.variable, ...variablesOf(pattern.expression)];
    case 'sub':
    case 'owns':
    case 'plays':
    case 'relates':
      return [...ofReference(pattern.subject), ...ofReference(pattern.object)];
    case 'try':
      return pattern.patterns.flatMap(variables);
    case 'or':
      return pattern.branches.flatMap((branch) => branch.flatMap(variables));
    case 'not':
      return [];
  }
}

function ofReference(reference: Reference): readonly string[] {
  return 'variable' in reference ? [reference.variable] : [];
}
