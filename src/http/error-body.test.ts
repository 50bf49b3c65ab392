import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anAnswer, streamOf } from '../../test/support/http.ts';
import { readErrorBody } from './error-body.ts';

test.each([
  ['{"code":"A","message":"b"}', { code: 'A', message: 'b' }],
  ['{"code":17,"message":null,"x":1}', { code: '17' }],
  ['{"message":"m","primaryAddress":"host:1"}', { message: 'm', primaryAddress: 'host:1' }],
  ['\ufeff{"code":"A","message":"b"}', { code: 'A', message: 'b' }],
  ['\ufeffNot found', { message: 'Not found' }],
  ['', {}],
  ['  ', {}],
  ['Not found\n', { message: 'Not found' }],
  ['"quoted"', { message: 'quoted' }],
  ['<html>oops</html>', {}],
  ['{"code":"A","mess', {}],
  ['[1,2]', {}],
  ['null', { message: 'null' }],
  ['{"__proto__":{"code":"A"}}', {}],
])('readErrorBody() takes what it can from %j', async (text, expected) => {
  expect(await readErrorBody(anAnswer([text]))).toEqual(expected);
});

test('readErrorBody() reads no more than it needs of an endless body', async () => {
  let sent = 0;
  async function* endless() {
    for (;;) {
      sent++;
      yield Buffer.alloc(16 * 1024, 'x');
    }
  }
  expect((await readErrorBody({ status: 500, headers: {}, body: endless() })).message).toMatch(/^x+$/);
  expect(sent).toBeLessThan(6);
});

test('readErrorBody() takes what came of a body that breaks off', async () => {
  async function* breaking() {
    yield Buffer.from('{"code":"A",');
    yield Buffer.from('"message":"b"}');
    throw new Error('reset');
  }
  expect(await readErrorBody({ status: 500, headers: {}, body: breaking() })).toEqual({ code: 'A', message: 'b' });
});

test('readErrorBody() drops the end of a text that breaks off: too little of a secret may have come to recognize it', async () => {
  async function* breaking() {
    yield Buffer.from('The password is canary-');
    throw new Error('reset');
  }
  const { message } = await readErrorBody({ status: 500, headers: {}, body: breaking() });
  expect(message).toBe('The password is');
});

test('readErrorBody() never fails, whatever comes and however it ends', async () => {
  async function* breaking(bytes: Uint8Array, breaks: boolean) {
    yield* streamOf([bytes]);
    if (breaks) throw new Error('reset');
  }
  await fc.assert(
    fc.asyncProperty(fc.uint8Array(), fc.boolean(), async (bytes, breaks) => {
      await readErrorBody({ status: 500, headers: {}, body: breaking(bytes, breaks) });
    }),
  );
});
