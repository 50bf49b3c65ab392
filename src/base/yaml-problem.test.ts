import { load } from 'js-yaml';
import { expect, it } from 'vitest';
import { yamlProblem } from './yaml-problem.ts';

function problemOf(text: string) {
  try {
    return load(text);
  } catch (error) {
    return yamlProblem(error);
  }
}

it.each([
  ['a: b: canary', { reason: 'bad indentation of a mapping entry', line: 0 }],
  ['b: 1\na: *canary', { reason: 'unidentified alias …', line: 1 }],
  ['a: *can"ary', { reason: 'unidentified alias …', line: 0 }],
  ['a: !canary', { reason: 'unknown scalar tag …', line: 0 }],
  ['a: !<can"ary> b', { reason: 'tag name cannot contain such characters…', line: 0 }],
  ['a: !a!canary b', { reason: 'undeclared tag handle …', line: 0 }],
  ['a\n---\nb', { reason: 'expected a single document in the stream, but found more', line: 0 }],
])('yamlProblem() says what is wrong with %j, and repeats nothing of it', (text, problem) => {
  expect(problemOf(text)).toEqual(problem);
});

it('yamlProblem() says nothing of other errors', () => {
  expect(yamlProblem(new Error('a: canary'))).toBeUndefined();
});
