import fc from 'fast-check';
import { expect, test } from 'vitest';
import { manualClock } from '../../test/support/clock.ts';
import { anAnswer } from '../../test/support/http.ts';
import { countedTurns } from '../../test/support/turns.ts';
import { Pace } from '../base/pace.ts';
import { BadAnswer } from '../http/json-stream.ts';
import { readQueryAnswer } from './query-answer.ts';

function read(answer: unknown, status = 200) {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  return readQueryAnswer({ ...anAnswer([text]), status }, new Pace(manualClock()));
}

const person = { kind: 'entityType', label: 'person', valueType: undefined };

test.each([
  [
    'an entity',
    { kind: 'entity', iid: '0x1', type: { kind: 'entityType', label: 'person' } },
    { kind: 'entity', iid: '0x1', type: person },
  ],
  ['an entity without type', { kind: 'entity', iid: '0x1' }, { kind: 'entity', iid: '0x1', type: undefined }],
  ['a relation', { kind: 'relation', iid: '0x2', type: null }, { kind: 'relation', iid: '0x2', type: undefined }],
  [
    'an attribute',
    {
      kind: 'attribute',
      value: 'x',
      valueType: 'string',
      iid: '0x3',
      type: { kind: 'attributeType', label: 'n', valueType: 'string' },
    },
    {
      kind: 'attribute',
      value: 'x',
      valueType: 'string',
      type: { kind: 'attributeType', label: 'n', valueType: 'string' },
    },
  ],
  [
    'a value',
    { kind: 'value', value: true, valueType: 'boolean' },
    { kind: 'value', value: true, valueType: 'boolean' },
  ],
  ['an entity type', { kind: 'entityType', label: 'person', new: 1 }, person],
  ['a relation type', { kind: 'relationType', label: 'r' }, { kind: 'relationType', label: 'r', valueType: undefined }],
  ['a role type', { kind: 'roleType', label: 'r:a' }, { kind: 'roleType', label: 'r:a', valueType: undefined }],
  [
    'an attribute type',
    { kind: 'attributeType', label: 'n', valueType: 'datetime-tz' },
    { kind: 'attributeType', label: 'n', valueType: 'datetime-tz' },
  ],
  ['nothing', null, undefined],
  ['a future kind', { kind: 'structType', label: 's' }, { kind: 'other', concept: { kind: 'structType', label: 's' } }],
  ['a kind named like a built-in', { kind: 'toString' }, { kind: 'other', concept: { kind: 'toString' } }],
])('readQueryAnswer() reads %s in a row', async (_, concept, expected) => {
  const answer = await read({ queryType: 'read', answerType: 'conceptRows', answers: [{ data: { x: concept } }] });
  expect(answer).toEqual({
    queryType: 'read',
    answerType: 'conceptRows',
    warning: undefined,
    answers: [new Map([['x', expected]])],
  });
});

test('readQueryAnswer() reads rows whose type comes after them, and keys of any name', async () => {
  const value = { kind: 'value', value: 1, valueType: 'integer' };
  const text = `{"answers":[{"data":{"__proto__":${JSON.stringify(value)}},"involvedBlocks":null}],"answerType":"conceptRows"}`;
  expect(await read(text)).toMatchObject({ answers: [new Map([['__proto__', value]])] });
});

test('readQueryAnswer() keeps integers exact', async () => {
  const text =
    '{"answerType":"conceptRows","answers":[{"data":{"x":{"kind":"value","value":9223372036854775807,"valueType":"integer"}}}]}';
  expect(await read(text)).toMatchObject({
    answers: [new Map([['x', { kind: 'value', value: 9223372036854775807n, valueType: 'integer' }]])],
  });
});

test('readQueryAnswer() reads documents as they are', async () => {
  const answers = [{ name: ['a'], nested: [{ kind: 'entityType', label: 'p' }] }, {}, 'text', null];
  expect(await read({ queryType: 'read', answerType: 'conceptDocuments', answers })).toEqual({
    queryType: 'read',
    answerType: 'conceptDocuments',
    warning: undefined,
    answers,
  });
});

test.each([{}, { answers: null }, { answers: [] }])('readQueryAnswer() reads ok with %j', async (more) => {
  expect(await read({ queryType: 'schema', answerType: 'ok', warning: null, ...more })).toEqual({
    queryType: 'schema',
    answerType: 'ok',
    warning: undefined,
  });
});

test('readQueryAnswer() keeps answers of a type that it does not know', async () => {
  expect(await read({ queryType: null, answerType: 'graph', answers: [1] })).toEqual({
    queryType: undefined,
    answerType: 'other',
    answerTypeName: 'graph',
    warning: undefined,
    answers: [1],
  });
});

test.each([
  [206, 'cut at 10', 'cut at 10'],
  [206, null, 'The answers were cut.'],
  [200, 'odd', 'odd'],
  [200, null, undefined],
])('readQueryAnswer() with status %d and warning %j warns: %s', async (status, warning, expected) => {
  expect((await read({ answerType: 'ok', warning }, status)).warning).toBe(expected);
});

test.each([
  [204, {}],
  [200, { 'content-length': '0' }],
])('readQueryAnswer() treats status %d with headers %j and no body as success', async (status, headers) => {
  const answer = await readQueryAnswer({ ...anAnswer([], headers), status }, new Pace(manualClock()));
  expect(answer).toEqual({ answerType: 'ok', queryType: undefined, warning: undefined });
});

test.each([
  [{ answers: [] }, 'answerType'],
  [{ answerType: 'conceptRows', answers: [{}] }, 'answers.0.data'],
  [{ answerType: 'conceptRows', answers: [{ data: {} }, null] }, 'answers.1'],
  [{ answerType: 'conceptRows', answers: [{ data: [] }] }, 'answers.0.data'],
  [{ answerType: 'conceptRows', answers: [{ data: { x: 'y' } }] }, 'answers.0.data'],
  [{ answerType: 'conceptRows', answers: [{ data: { x: { kind: 'entity' } } }] }, 'answers.0.data.iid'],
  [{ answerType: 'conceptRows', answers: [{ data: { x: { kind: 'roleType' } } }] }, 'answers.0.data.label'],
])('readQueryAnswer() says where %j makes no sense', async (answer, where) => {
  await expect(read(answer)).rejects.toThrow(BadAnswer);
  await expect(read(answer)).rejects.toThrow(`makes no sense at ${where}:`);
});

test('readQueryAnswer() reads 10,000 answers without holding the event loop', async () => {
  const turns = countedTurns();
  const answers = Array.from({ length: 10_000 }, (_, index) => ({
    data: {
      person: { kind: 'entity', iid: `0x${index.toString(16)}`, type: { kind: 'entityType', label: 'person' } },
      name: {
        kind: 'attribute',
        value: `name ${index}`,
        valueType: 'string',
        type: { kind: 'attributeType', label: 'n' },
      },
    },
  }));
  const text = JSON.stringify({ queryType: 'read', answers, answerType: 'conceptRows' });
  const answer = await readQueryAnswer(anAnswer([text]), new Pace(turns.clock));
  expect(answer).toMatchObject({ answerType: 'conceptRows', answers: { length: 10_000 } });
  // 2 ms at most between two, and a look after each answer.
  expect(turns.turns()).toBeGreaterThan(10_000 / 3);
});

test('readQueryAnswer() reads any answer or refuses it, whatever it is', async () => {
  const concept = fc.oneof(
    fc.jsonValue(),
    fc.record({
      kind: fc.constantFrom('entity', 'value', 'attribute', 'roleType', 'x'),
      iid: fc.jsonValue(),
      value: fc.jsonValue(),
      label: fc.jsonValue(),
    }),
  );
  const answers = fc.oneof(fc.jsonValue(), fc.array(fc.record({ data: fc.dictionary(fc.string(), concept) })));
  const type = fc.constantFrom('ok', 'conceptRows', 'conceptDocuments', 'other', 7);
  await fc.assert(
    fc.asyncProperty(answers, type, async (given, answerType) => {
      await read({ answerType, answers: given }).catch((error: unknown) => expect(error).toBeInstanceOf(BadAnswer));
    }),
  );
});
