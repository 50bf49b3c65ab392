import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { virtualClock } from '../../sandbox/virtual-clock.ts';
import type { KubeConnection } from './connection.ts';
import { loadPodConnection, renewed } from './in-pod.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mooring-account-'));
  await writeFile(join(folder, 'ca.crt'), 'CA');
  await writeFile(join(folder, 'namespace'), 'mooring-system\n');
  await writeFile(join(folder, 'token'), 'first\n');
});

const trustedBy = ({ tls: { ca } }: KubeConnection) => (typeof ca === 'function' ? ca() : ca);

afterEach(() => rm(folder, { recursive: true }));

test('loadPodConnection() reads what the kubelet puts into a pod', async () => {
  const connection = await loadPodConnection(virtualClock(), '10.96.0.1', '443', folder);
  expect(connection).toMatchObject({
    server: 'https://10.96.0.1:443',
    namespace: 'mooring-system',
    inPod: true,
  });
  expect(await connection.authorize(false)).toEqual({ authorization: 'Bearer first' });
  expect(trustedBy(connection)).toBe('CA');
});

test('loadPodConnection() writes IPv6 addresses as URLs have them', async () => {
  const { server } = await loadPodConnection(virtualClock(), 'fd00::1', '6443', folder);
  expect(server).toBe('https://[fd00::1]:6443');
});

test('loadPodConnection() reads the token again when it is old, and when it was refused', async () => {
  const clock = virtualClock();
  const { authorize } = await loadPodConnection(clock, '10.96.0.1', '443', folder);
  await writeFile(join(folder, 'token'), 'second');
  await clock.advance(29_000);
  expect(await authorize(false)).toEqual({ authorization: 'Bearer first' });
  expect(await authorize(true)).toEqual({ authorization: 'Bearer second' });
  await writeFile(join(folder, 'token'), 'third');
  await clock.advance(31_000);
  expect(await authorize(false)).toEqual({ authorization: 'Bearer third' });
});

test('loadPodConnection() reads with the token which certificates to trust', async () => {
  const clock = virtualClock();
  const connection = await loadPodConnection(clock, '10.96.0.1', '443', folder);
  await writeFile(join(folder, 'ca.crt'), 'CA and its successor');
  await clock.advance(31_000);
  await connection.authorize(false);
  expect(trustedBy(connection)).toBe('CA and its successor');
});

test('loadPodConnection() says which file is missing, and what to do', async () => {
  await rm(join(folder, 'token'));
  await expect(loadPodConnection(virtualClock(), '10.96.0.1', '443', folder)).rejects.toThrow(
    /^There is no kubeconfig, and no service account can be read \(.*\/token'\): .*automountServiceAccountToken/,
  );
});

test('loadPodConnection() goes on with a token that cannot be read again, unless it was refused', async () => {
  const clock = virtualClock();
  const { authorize } = await loadPodConnection(clock, '10.96.0.1', '443', folder);
  await rm(join(folder, 'token'));
  await clock.advance(31_000);
  expect(await authorize(false)).toEqual({ authorization: 'Bearer first' });
  await expect(authorize(true)).rejects.toThrow(join(folder, 'token'));
  await writeFile(join(folder, 'token'), 'second');
  expect(await authorize(false)).toEqual({ authorization: 'Bearer second' });
});

test.each([
  ['refused', true],
  ['old', false],
])('renewed() reads once for all that find their login %s at the same time', async (_, isRefused) => {
  const clock = virtualClock();
  const reads: ((login: Record<string, string>) => void)[] = [];
  const read = () => new Promise<Record<string, string>>((resolve) => reads.push(resolve));
  const authorize = renewed(clock, { authorization: 'first' }, read);
  await clock.advance(31_000);
  const all = Array.from({ length: 12 }, () => authorize(isRefused));
  await clock.settle();
  for (const resolve of reads) resolve({ authorization: 'second' });
  expect([reads.length, new Set((await Promise.all(all)).map(({ authorization }) => authorization))]).toEqual([
    1,
    new Set(['second']),
  ]);
  const another = authorize(true);
  await clock.settle();
  reads.at(-1)?.({ authorization: 'third' });
  expect([reads.length, await another]).toEqual([2, { authorization: 'third' }]);
});

test('renewed() tries what cannot be read no more often than what can, unless the server refuses it', async () => {
  const clock = virtualClock();
  let reads = 0;
  const read = async () => {
    reads++;
    throw new Error('The plugin failed');
  };
  const authorize = renewed(clock, { authorization: 'first' }, read);
  await clock.advance(31_000);
  for (let count = 0; count < 5; count++) expect(await authorize(false)).toEqual({ authorization: 'first' });
  expect(reads).toBe(1);
  await clock.advance(31_000);
  await authorize(false);
  expect(reads).toBe(2);
  await expect(authorize(true)).rejects.toThrow('The plugin failed');
  expect(reads).toBe(3);
});

test('renewed() goes on with a login that is not refused while the plugin hangs, and uses what it gives in the end', async () => {
  const clock = virtualClock();
  const reads: ((login: Record<string, string>) => void)[] = [];
  const read = () => new Promise<Record<string, string>>((resolve) => reads.push(resolve));
  const authorize = renewed(clock, { authorization: 'first' }, read);
  await clock.advance(31_000);
  const waiting = authorize(false);
  await clock.advance(5_000);
  expect(await waiting).toEqual({ authorization: 'first' });
  expect(await authorize(false)).toEqual({ authorization: 'first' });
  reads[0]?.({ authorization: 'second' });
  await clock.settle();
  expect([await authorize(false), reads.length]).toEqual([{ authorization: 'second' }, 1]);
});
