import { expect, test } from 'vitest';
import { type ToySubject, toyKind } from '../../test/support/toy-kind.ts';
import type { Reference } from '../base/collections/reference-index.ts';
import type { AnyObject, KubeApi } from '../kube/api.ts';
import { SecretReads } from './secret-reads.ts';

const { signal } = new AbortController();

interface Asked {
  readonly name: string;
  readonly metadataOnly: boolean | undefined;
  readonly answer: (version: string | undefined) => void;
}

/** Secrets whose answers the test releases, and toys with references that the test chooses. */
function bench() {
  const asked: Asked[] = [];
  const told: string[] = [];
  const log: string[] = [];
  const get: KubeApi['get'] = (_resource, { namespace, name }, _signal, options) =>
    new Promise((resolve) => {
      const answer = (version: string | undefined) =>
        resolve(version === undefined ? undefined : secretOf(namespace ?? '', name, version));
      asked.push({ name: `${namespace}/${name}`, metadataOnly: options?.metadataOnly, answer });
    });
  const reads = new SecretReads({ get }, metadataOf);
  reads.onChange((key, before, after) =>
    told.push(`${key} ${before?.metadata.resourceVersion} → ${after?.metadata.resourceVersion}`),
  );
  const references = new Map<string, readonly Reference[]>();
  const kind = reads.before({
    ...toyKind({}, log),
    references: ({ metadata: { name } }) => references.get(name) ?? [],
  });
  /** A look at the toy, once the reads that it waits for are answered. */
  const observe = (toy: string, ...refers: readonly Reference[]) => {
    references.set(toy, refers);
    return kind.observe(subjectOf(toy), signal);
  };
  const read = async (found: string | undefined, toy = 'toy') => {
    const done = observe(toy, 'secrets/shop/login');
    asked.at(-1)?.answer(found);
    await done;
  };
  const version = () => reads.store.get('shop/login')?.metadata.resourceVersion;
  return { reads, kind, asked, told, log, version, observe, read };
}

function metadataOf({ metadata: { name, uid, resourceVersion } }: AnyObject): AnyObject {
  return { metadata: { name, uid, resourceVersion } };
}

function secretOf(namespace: string, name: string, resourceVersion: string): AnyObject {
  return { metadata: { namespace, name, uid: 'uid', resourceVersion, labels: { not: 'kept' } } };
}

function subjectOf(name: string): ToySubject {
  const metadata = { namespace: 'shop', name, uid: name, resourceVersion: '1' };
  const status = { observedGeneration: -1 };
  return { key: `shop/${name}`, metadata, spec: { size: 1 }, status, deleting: false, lookNow: false };
}

test('a pass first reads the Secrets that the object refers to, each once, and only their metadata', async () => {
  const { reads, asked, log, observe } = bench();
  const names = ['secrets/shop/a', 'databasespaces/shop/a', 'secrets/shop/b', 'secrets/shop/a', 'secrets/shop/'];
  const done = observe('toy', ...names, 'configmaps/shop/a');
  expect(log).toEqual([]);
  for (const { answer } of asked) answer('1');
  await done;
  expect(log).toEqual(['observe']);
  expect(asked.map(({ name, metadataOnly }) => [name, metadataOnly])).toEqual([
    ['shop/a', true],
    ['shop/b', true],
  ]);
  expect(reads.store.get('shop/a')).toEqual({ metadata: { name: 'a', uid: 'uid', resourceVersion: '1' } });
});

test('it reports when a Secret appears, changes or vanishes, and nothing else', async () => {
  const { told, version, read } = bench();
  for (const found of [undefined, '5', '5', '7', undefined, undefined]) await read(found);
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

test('the read that began last counts, whichever answer comes last', async () => {
  const { asked, version, observe } = bench();
  const [first, second] = [observe('toy', 'secrets/shop/login'), observe('other', 'secrets/shop/login')];
  asked[1]?.answer('8');
  await second;
  asked[0]?.answer('7');
  await first;
  expect(version()).toBe('8');
});

test('a Secret that nobody refers to any more is forgotten, even if its answer is late', async () => {
  const { asked, version, observe, read, kind, told, log } = bench();
  await read('5', 'toy');
  await read('5', 'other');
  kind.forget('shop/toy', 'deleted');
  expect([version(), log.at(-1)]).toEqual(['5', 'forget shop/toy, deleted']);
  await observe('other');
  expect(version()).toBeUndefined();
  expect(told.at(-1)).toBe('shop/login 5 → undefined');

  const late = observe('toy', 'secrets/shop/login');
  kind.forget('shop/toy', 'deleted');
  asked.at(-1)?.answer('9');
  await late;
  expect(version()).toBeUndefined();
});

test('a failed read is a failure of the pass', async () => {
  const reads = new SecretReads({ get: () => Promise.reject(new Error('forbidden')) }, metadataOf);
  const kind = reads.before({ ...toyKind({}, []), references: () => ['secrets/shop/login'] });
  await expect(kind.observe(subjectOf('toy'), signal)).rejects.toThrow('forbidden');
});
