import { expect, test } from 'vitest';
import { createLog } from './log.ts';

function aLog(format: 'json' | 'pretty' = 'json', level = 'info') {
  const lines: string[] = [];
  return { log: createLog({ level, format, write: (line) => lines.push(line) }), lines };
}

test('createLog() writes one line of JSON with time, level and message', () => {
  const { log, lines } = aLog();
  log.info({ kind: 'Toy' }, 'Hello');
  log.debug({}, 'Not at this level');
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-.*Z$/),
    kind: 'Toy',
    msg: 'Hello',
  });
});

test('createLog() hides values under the name of a secret, however deep, and in lists', () => {
  const { log, lines } = aLog();
  const secrets = {
    password: 'canary',
    nextPassword: 'canary',
    clientSecret: 'canary',
    token: 'canary',
    authorization: 'canary',
    data: { any: 'canary' },
    stringData: { any: 'canary' },
  };
  log.info({ ...secrets, a: { ...secrets, b: [{ ...secrets, c: { d: { e: secrets } } }] } }, 'Look');
  expect(lines.join()).not.toContain('canary');
  expect(lines.join()).toContain('[redacted]');
});

test('createLog() writes a time or an address as JSON does, and hides secrets in what stands for something else', () => {
  const { log, lines } = aLog();
  const other = { toJSON: () => ({ token: 'canary', size: 3 }) };
  log.info({ at: new Date(0), url: new URL('https://a.example.com/x'), other, none: null }, 'Look');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    at: '1970-01-01T00:00:00.000Z',
    url: 'https://a.example.com/x',
    other: { token: '[redacted]', size: 3 },
    none: null,
  });
});

test('createLog() leaves out what is within itself', () => {
  const { log, lines } = aLog();
  const endless: Record<string, unknown> = { size: 3 };
  endless['self'] = [endless];
  log.info({ endless }, 'Look');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ endless: { size: 3, self: [{ size: 3 }] } });
  expect(lines[0]).toContain('[too deep]');
});

test('createLog() shows how many Secrets there are, and how they are read', () => {
  const { log, lines } = aLog();
  log.info({ secrets: 12, config: { secrets: 'get' } }, 'Look');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ secrets: 12, config: { secrets: 'get' } });
  log.info({ secrets: ['canary'], password: 271828, user: { token: 'get' } }, 'Look');
  expect(lines.join()).not.toContain('canary');
  expect(lines.join()).not.toContain('271828');
  expect(JSON.parse(lines[1] ?? '')).toMatchObject({ user: { token: '[redacted]' } });
});

test("createLog() writes an error's name, message and stack, and none of its other properties", () => {
  const { log, lines } = aLog();
  log.warn({ err: Object.assign(new Error('Broken'), { request: { body: 'canary' } }) }, 'Failed');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ err: { type: 'Error', message: 'Broken' } });
  expect(lines.join()).not.toContain('canary');
});

test('createLog() writes for people the object of a line, and the stack of an error', () => {
  const { log, lines } = aLog('pretty');
  log.warn({ kind: 'Toy', namespace: 'ns', name: 'a', size: 3 }, 'Hello');
  log.error({ err: new Error('Broken') }, 'Failed');
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d WARN {2}Toy ns\/a: Hello size=3\n$/);
  log.info({ config: { level: 'info', namespaces: ['a'] }, version: '1' }, 'Starts');
  expect(lines[2]).toMatch(/ INFO {2}Starts version="1"\n {9}config\.level="info"\n {9}config\.namespaces=\["a"\]\n$/);
  expect(lines[1]).toMatch(/ERROR Failed\nError: Broken\n/);
});

test.each(['json', 'pretty'] as const)('createLog() lets no text of others control the terminal, as %s', (format) => {
  const { log, lines } = aLog(format);
  const hostile = 'a\u001b[2Jb\u009b2Jc\rd\u202ee\nf';
  log.warn({ kind: 'Toy', namespace: 'ns', name: 'a', state: hostile, err: new Error(hostile) }, hostile);
  expect(lines.join('').replaceAll('\n', '')).toMatch(/^[\x20-\x7e]*$/);
  const [first = ''] = lines.join('').split('\n');
  expect(first).toMatch(/f/);
  if (format === 'json') expect(JSON.parse(first)).toMatchObject({ msg: hostile, state: hostile });
});
