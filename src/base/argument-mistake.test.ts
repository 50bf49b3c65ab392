import { parseArgs } from 'node:util';
import { expect, test } from 'vitest';
import { argumentMistake } from './argument-mistake.ts';

const options = { namespaces: { type: 'string' }, watch: { type: 'boolean' } } as const;

test.each([
  ['--namespace=default', "Unknown option '--namespace'. Did you mean --namespaces?"],
  ['--no-wath', "Unknown option '--no-wath'"],
  ['--wath', "Unknown option '--wath'. Did you mean --watch?"],
  ['--nonsense', "Unknown option '--nonsense'"],
  ['-x', "Unknown option '-x'"],
  ['word', "Unexpected argument 'word'"],
  ['--watch=soon', "Option '--watch' does not take an argument"],
  ['--namespaces', "Option '--namespaces <value>' argument missing"],
])('argumentMistake() of %s', (argument, expected) => {
  let mistake: string | undefined;
  try {
    parseArgs({ args: [argument], options });
  } catch (error) {
    mistake = argumentMistake(error, Object.keys(options));
  }
  expect(mistake).toBe(expected);
});
