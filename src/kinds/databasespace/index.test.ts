import { expect, test } from 'vitest';
import { aSpace } from '../../../test/support/builders.ts';
import { placesOf } from '../../../test/support/places.ts';
import { secretsOf } from '../../../test/support/secrets.ts';
import { SECRETS } from '../../kube/api.ts';
import { FakeKube } from '../../sandbox/fake-kube.ts';
import { virtualClock } from '../../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../../simulator/seeded-random.ts';
import { Elapsed } from '../elapsed.ts';
import { createSecrets, type Secrets } from '../secrets.ts';
import type { SpaceConnections } from './connection/connections.ts';
import { databaseSpaceKind } from './index.ts';
import { secretFinalizer } from './observation.ts';

function spaceKind(secrets: Secrets, connections = {} as SpaceConnections) {
  return databaseSpaceKind({
    secrets,
    connections,
    places: placesOf({}),
    connectedWith: new Map(),
    listedFor: new Map(),
    versions: new Map(),
    heldIDs: () => new Set(),
    neededBy: () => [],
    dependents: () => ({ leaving: [], mayFollow: false }),
    hasDependents: () => false,
    clock: virtualClock(),
    going: new Elapsed(),
  });
}

test('DatabaseSpaces of one namespace take turns with those of others', () => {
  const kind = spaceKind({} as Secrets);
  const { metadata, spec } = aSpace().subject;
  const groupOf = (namespace: string, name: string) =>
    kind.group?.({ metadata: { ...metadata, namespace, name }, spec, status: { observedGeneration: 1 } });
  expect(groupOf('mallory', 'one')).toBe(groupOf('mallory', 'two'));
  expect(groupOf('mallory', 'one')).not.toBe(groupOf('shop', 'production'));
});

test("a DatabaseSpace that is abandoned releases its Secrets, and nobody else's", async () => {
  const kube = new FakeKube({ now: () => 0, random: createSeededRandom(1) });
  const { metadata } = aSpace().subject;
  const ours = secretFinalizer({ metadata });
  for (const [name, finalizers] of [
    ['cloud-admin', [ours, 'example.com/theirs']],
    ['other', ['mooring.dev/space-another']],
  ] as const) {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name, finalizers }, data: {} };
    await kube.create(SECRETS, metadata.namespace ?? '', secret);
  }
  const kind = spaceKind(createSecrets(kube, secretsOf(kube)));
  await kind.abandon?.({ metadata, status: { observedGeneration: 1 } });
  const left = kube.all(SECRETS).map((secret) => [secret.metadata.name, secret.metadata.finalizers]);
  expect(Object.fromEntries(left)).toEqual({
    'cloud-admin': ['example.com/theirs'],
    other: ['mooring.dev/space-another'],
  });
});

test('a DatabaseSpace that went back to what it was stays connected: sessions may be the last that know a lost password', () => {
  const disconnected: string[] = [];
  const connections = { disconnect: (key: string) => disconnected.push(key) };
  // Nothing else of it is used here.
  const kind = spaceKind({} as Secrets, connections as unknown as SpaceConnections);
  kind.forget('shop/production', 'wentBack');
  expect(disconnected).toEqual([]);
  kind.forget('shop/production', 'released');
  expect(disconnected).toEqual(['shop/production']);
});

test('a DatabaseSpace keeps a Secret while it needs it, and lets go of it, beside the finalizers of others', async () => {
  const kube = new FakeKube({ now: () => 0, random: createSeededRandom(1) });
  const { subject } = aSpace();
  const ours = secretFinalizer(subject);
  const theirs = 'example.com/theirs';
  const metadata = { name: 'cloud-admin', finalizers: [theirs] };
  await kube.create(SECRETS, subject.metadata.namespace ?? '', { apiVersion: 'v1', kind: 'Secret', metadata });
  const kind = spaceKind(createSecrets(kube, secretsOf(kube)));
  const afterStep = async (what: 'KeepSecret' | 'FreeSecret') => {
    await kind.act(subject, { do: what, name: 'cloud-admin' }, new AbortController().signal, () => {});
    return kube.all(SECRETS)[0]?.metadata.finalizers;
  };
  expect(await afterStep('KeepSecret')).toEqual([theirs, ours]);
  expect(await afterStep('FreeSecret')).toEqual([theirs]);
});
