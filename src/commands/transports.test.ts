import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { transportsFor } from './transports.ts';

// A connection pool takes no time to make for a name; for a set of certificates it does.
const askForOthers = ({ of }: ReturnType<typeof transportsFor>) => {
  for (let index = 0; index < 40; index++) of(undefined, `other-${index}`);
};

test('transportsFor() has one transport for each set of certificates and name, as long as it is used', () => {
  const transports = transportsFor();
  const first = transports.of(undefined, 'first');
  expect(transports.of(undefined, 'other-0')).not.toBe(first);
  askForOthers(transports);
  expect(transports.of(undefined, 'first')).toBe(first);
});

test('transportsFor() drops a transport that is not used and was last requested before many others', async () => {
  setFlagsFromString('--expose-gc');
  const transports = transportsFor();
  const first = new WeakRef(transports.of(undefined, 'first'));
  askForOthers(transports);
  // A WeakRef that was dereferenced is kept until the end of the turn.
  await new Promise((resolve) => setImmediate(resolve));
  runInNewContext('gc')();
  expect(first.deref()).toBeUndefined();
});
