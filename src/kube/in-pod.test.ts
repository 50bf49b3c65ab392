import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { loadPodConnection } from './in-pod.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mooring-account-'));
  await writeFile(join(folder, 'ca.crt'), 'CA');
  await writeFile(join(folder, 'namespace'), 'mooring-system\n');
  await writeFile(join(folder, 'token'), 'first\n');
});

afterEach(() => rm(folder, { recursive: true }));

test('loadPodConnection() reads what the kubelet puts into a pod', async () => {
  const connection = await loadPodConnection(virtualClock(), '10.96.0.1', '443', folder);
  expect(connection).toMatchObject({
    server: 'https://10.96.0.1:443',
    namespace: 'mooring-system',
    tls: { ca: 'CA' },
    inPod: true,
  });
  expect(await connection.authorize(false)).toEqual({ authorization: 'Bearer first' });
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

test('loadPodConnection() says which file is missing', async () => {
  await rm(join(folder, 'token'));
  await expect(loadPodConnection(virtualClock(), '10.96.0.1', '443', folder)).rejects.toThrow(join(folder, 'token'));
});
