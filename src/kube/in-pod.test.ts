import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import type { KubeConnection } from './config.ts';
import { loadPodConnection } from './in-pod.ts';

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

test('loadPodConnection() reads with the token whom to trust', async () => {
  const clock = virtualClock();
  const connection = await loadPodConnection(clock, '10.96.0.1', '443', folder);
  await writeFile(join(folder, 'ca.crt'), 'CA and its successor');
  await clock.advance(31_000);
  await connection.authorize(false);
  expect(trustedBy(connection)).toBe('CA and its successor');
});

test('loadPodConnection() says which file is missing', async () => {
  await rm(join(folder, 'token'));
  await expect(loadPodConnection(virtualClock(), '10.96.0.1', '443', folder)).rejects.toThrow(join(folder, 'token'));
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
