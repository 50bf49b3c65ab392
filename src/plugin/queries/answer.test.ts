import { describe, expect, it } from 'vitest';
import { answerJson, answerText } from './answer.ts';

const person = { kind: 'entityType', label: 'person', valueType: undefined } as const;
const rows = {
  queryType: 'read',
  warning: undefined,
  answerType: 'conceptRows',
  answers: [
    new Map([
      ['p', { kind: 'entity', iid: '0x1e', type: person } as const],
      ['n', { kind: 'attribute', value: 'Ada', valueType: 'string', type: undefined } as const],
    ]),
    new Map([
      ['p', person],
      ['n', undefined],
    ]),
  ],
} as const;

describe('answerText()', () => {
  it('shows rows as a table', () => {
    expect(answerText(rows)).toBe('p            n\nperson 0x1e  Ada\nperson\n2 rows\n');
  });

  it('shows structs, and concepts of an unknown kind, as JSON, with big integers as they are', () => {
    const struct = { street: 'Elm', number: 9_007_199_254_740_993n };
    const cells = new Map([
      ['s', { kind: 'value', value: struct, valueType: 'address' } as const],
      ['o', { kind: 'other', concept: { kind: 'list', of: [9_007_199_254_740_993n] } } as const],
    ]);
    const text = answerText({ ...rows, answers: [cells] });
    expect(text).toContain('{"street":"Elm","number":9007199254740993}');
    expect(text).toContain('{"kind":"list","of":[9007199254740993]}');
  });

  it('shows documents as JSON, with big integers as they are, and a warning at the end', () => {
    const answers = [{ id: 9_007_199_254_740_993n }];
    const text = answerText({ queryType: 'read', warning: 'Cut.', answerType: 'conceptDocuments', answers });
    expect(text).toBe('{\n  "id": 9007199254740993\n}\n1 document\nCut.\n');
  });

  it('says that a query without answers is done', () => {
    expect(answerText({ queryType: 'schema', warning: undefined, answerType: 'ok' })).toBe('Done.\n');
  });
});

describe('answerJson()', () => {
  it('keeps everything', () => {
    expect(JSON.parse(answerJson(rows))).toMatchObject({
      queryType: 'read',
      answers: [{ n: { value: 'Ada' }, p: { iid: '0x1e' } }, { p: { label: 'person' } }],
    });
  });
});
