import { expect, test } from 'vitest';
import type { AnyObject, KubeApi } from '../kube/api.ts';
import { SecretReads } from './secret-reads.ts';

const { signal } = new AbortController();

interface Asked {
  readonly name: string;
  readonly metadataOnly: boolean | undefined;
  readonly answer: (version: string | undefined) => void;
}

/** Secrets whose answers come when the test says so. */
function bench() {
  const asked: Asked[] = [];
  const told: string[] = [];
  const get: KubeApi['get'] = (_resource, { namespace, name }, _signal, options) =>
    new Promise((resolve) => {
      const answer = (version: string | undefined) =>
        resolve(version === undefined ? undefined : secretOf(namespace ?? '', name, version));
      asked.push({ name: `${namespace}/${name}`, metadataOnly: options?.metadataOnly, answer });
    });
  const reads = new SecretReads({ get }, ({ metadata: { name, uid, resourceVersion } }) => ({
    metadata: { name, uid, resourceVersion },
  }));
  reads.onChange((key, before, after) =>
    told.push(`${key} ${before?.metadata.resourceVersion} → ${after?.metadata.resourceVersion}`),
  );
  const version = () => reads.store.get('shop/login')?.metadata.resourceVersion;
  const read = async (found: string | undefined) => {
    const done = reads.refresh(['secrets/shop/login'], signal);
    asked.at(-1)?.answer(found);
    await done;
  };
  return { reads, asked, told, version, read };
}

function secretOf(namespace: string, name: string, resourceVersion: string): AnyObject {
  return { metadata: { namespace, name, uid: 'uid', resourceVersion, labels: { not: 'kept' } } };
}

test('SecretReads asks for the Secrets that are named, each once, and for metadata only', async () => {
  const { reads, asked } = bench();
  const references = ['secrets/shop/a', 'databasespaces/shop/a', 'secrets/shop/b', 'secrets/shop/a', 'secrets/shop/'];
  const done = reads.refresh([...references, 'configmaps/shop/a'], signal);
  for (const { answer } of asked) answer('1');
  await done;
  expect(asked.map(({ name, metadataOnly }) => [name, metadataOnly])).toEqual([
    ['shop/a', true],
    ['shop/b', true],
  ]);
  expect(reads.store.get('shop/a')).toEqual({ metadata: { name: 'a', uid: 'uid', resourceVersion: '1' } });
});

test('SecretReads tells when a Secret came, changed or went, and of nothing else', async () => {
  const { told, version, read } = bench();
  await read(undefined);
  await read('5');
  await read('5');
  await read('7');
  await read(undefined);
  await read(undefined);
  expect(version()).toBeUndefined();
  // A server that was restored from a backup is right, too.
  await read('3');
  expect(version()).toBe('3');
  expect(told).toEqual([
    'shop/login undefined → 5',
    'shop/login 5 → 7',
    'shop/login 7 → undefined',
    'shop/login undefined → 3',
  ]);
});

test('SecretReads lets the read count that began last, whichever answer comes last', async () => {
  const { reads, asked, version } = bench();
  const first = reads.refresh(['secrets/shop/login'], signal);
  const second = reads.refresh(['secrets/shop/login'], signal);
  asked[1]?.answer('8');
  await second;
  asked[0]?.answer('7');
  await first;
  expect(version()).toBe('8');
});

test('SecretReads lets a failure be the pass’s', async () => {
  const reads = new SecretReads({ get: () => Promise.reject(new Error('forbidden')) }, (secret) => secret);
  await expect(reads.refresh(['secrets/shop/login'], signal)).rejects.toThrow('forbidden');
});
