import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { transportsFor } from './transports.ts';

// Names take no time to make a connection pool for; sets of certificates do.
const askForOthers = ({ of }: ReturnType<typeof transportsFor>) => {
  for (let index = 0; index < 40; index++) of(undefined, `other-${index}`);
};

test('transportsFor() has one transport for each set of certificates and name, as long as somebody uses it', () => {
  const transports = transportsFor();
  const first = transports.of(undefined, 'first');
  expect(transports.of(undefined, 'other-0')).not.toBe(first);
  askForOthers(transports);
  expect(transports.of(undefined, 'first')).toBe(first);
});

test('transportsFor() lets go of what nobody uses and was asked for before many others', async () => {
  setFlagsFromString('--expose-gc');
  const transports = transportsFor();
  const first = new WeakRef(transports.of(undefined, 'first'));
  askForOthers(transports);
  // What a WeakRef was asked for is kept to the end of the turn.
  await new Promise((resolve) => setImmediate(resolve));
  runInNewContext('gc')();
  expect(first.deref()).toBeUndefined();
});
