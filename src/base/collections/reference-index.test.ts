import { expect, test } from 'vitest';
import { ReferenceIndex } from './reference-index.ts';

test('ReferenceIndex knows all objects that refer to a thing', () => {
  const index = new ReferenceIndex();
  index.change('ns/a', [], ['secrets/ns/x', 'secrets/ns/y'], []);
  index.change('ns/b', [], ['secrets/ns/x', 'secrets/ns/x'], []);
  expect([...index.dependents('secrets/ns/x')]).toEqual(['ns/a', 'ns/b']);
  expect([...index.dependents('secrets/ns/y')]).toEqual(['ns/a']);
  expect([...index.dependents('secrets/ns/z')]).toEqual([]);
});

test('ReferenceIndex forgets what an object no longer refers to', () => {
  const index = new ReferenceIndex();
  index.change('ns/a', [], ['x', 'y'], []);
  index.change('ns/a', ['x', 'y'], ['y', 'z'], []);
  expect([[...index.dependents('x')], [...index.dependents('y')], [...index.dependents('z')]]).toEqual([
    [],
    ['ns/a'],
    ['ns/a'],
  ]);
  index.change('ns/a', ['y', 'z'], [], []);
  expect([...index.dependents('y'), ...index.dependents('z')]).toEqual([]);
});

test('ReferenceIndex forgets temporary references at the next change of the object', () => {
  const index = new ReferenceIndex();
  index.change('ns/a', [], ['x'], ['free']);
  expect([...index.dependents('free')]).toEqual(['ns/a']);
  index.change('ns/a', ['x'], ['x'], ['other']);
  expect([[...index.dependents('free')], [...index.dependents('other')]]).toEqual([[], ['ns/a']]);
  index.change('ns/a', ['x'], [], []);
  expect([...index.dependents('x'), ...index.dependents('other')]).toEqual([]);
});
