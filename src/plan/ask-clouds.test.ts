import { describe, expect, it } from 'vitest';
import { aWorld, SPACE } from '../../test/support/planned-world.ts';
import type { HttpTransport } from '../base/transport.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { askClouds } from './ask-clouds.ts';
import type { Document } from './manifests.ts';
import { NOTHING_TOLD, policyOf } from './policy.ts';

const { signal } = new AbortController();
const NEXT = 'DatabaseSpace production';
const THERE = 'https://cloud.simulator.test';

/** Asks for a plan with this space; returns who was called with what. */
async function ask(name: string, change: object, documents: readonly Document[] = [], told = NOTHING_TOLD) {
  const world = await aWorld({});
  const { objects } = await world.input({ [name]: { ...SPACE, baseURL: THERE, ...change } });
  const called: string[] = [];
  const sent: string[] = [];
  const transport: HttpTransport = (request) => {
    called.push(new URL(request.url).origin);
    sent.push(JSON.stringify(request));
    return world.simulator.transport(request);
  };
  const dependencies = {
    api: world.kube,
    clock: world.clock,
    random: createSeededRandom(1),
    transport: () => transport,
  };
  const asking = askClouds(
    dependencies,
    { namespace: 'shop', objects, documents, policy: policyOf(told, objects) },
    signal,
  );
  // A cloud that does not answer is tried again, which takes time.
  let isOver = false;
  asking.finally(() => (isOver = true)).catch(() => {});
  for (let turn = 0; turn < 200 && !isOver; turn++) await world.clock.advance(1_000);
  const result = await asking;
  await world.end();
  return { ...result, called: [...new Set(called)], sent: sent.join('\n') };
}

const TOKEN = [{ level: 'read', secretRef: { name: 'theirs' } }];

const secret = (name: string): Document => ({
  where: 'a.yaml',
  manifest: { kind: 'Secret', metadata: { name }, stringData: { clientID: 'mine', clientSecret: 'of-the-files' } },
});

describe('askClouds()', () => {
  it('asks the cloud of a space as it is stored, however the files spell its address', async () => {
    for (const change of [{}, { baseURL: `${THERE}/` }, { pollInterval: '2m' }]) {
      const { called, listed, notes } = await ask(NEXT, change);
      expect(called).toEqual([THERE]);
      expect([...listed.keys()]).toEqual(['shop/production']);
      expect(notes).toEqual([]);
    }
  });

  it.each<[string, object]>([
    ['baseURL', { baseURL: 'https://evil.example.com' }],
    ['baseURL', { baseURL: 'http://evil.example.com' }],
    ['teamID', { teamID: 'other' }],
    ['spaceID', { spaceID: 'other' }],
    ['caBundle', { caBundle: 'bWluZQ==' }],
    [
      'apiTokens',
      { apiTokens: [{ level: 'read', secretRef: { name: 'factory-login', clientSecretKey: 'password' } }] },
    ],
  ])('sends no token if only the files name its %s', async (field, change) => {
    const { called, listed, notes } = await ask(NEXT, change);
    expect(called).toEqual([]);
    expect(listed.size).toBe(0);
    expect(notes).toEqual([
      expect.stringMatching(
        new RegExp(
          `^The cloud of DatabaseSpace shop/production, at http.*, was not asked, so .* objects: the files change ${field}$`,
        ),
      ),
    ]);
  });

  it('sends no token if the space itself is new, even to a cloud that another space names', async () => {
    const { called, notes } = await ask('DatabaseSpace more', {});
    expect(called).toEqual([THERE]);
    expect(notes).toEqual([
      `The cloud of DatabaseSpace shop/more, at ${THERE}, was not asked, so the plan uses the statuses of its objects: the object is only in the files`,
    ]);
  });

  it('sends tokens from the files, and not those of the same name in the cluster', async () => {
    const moved = { baseURL: 'https://new.example.com', apiTokens: TOKEN };
    const named = await ask(NEXT, moved, [secret('theirs')]);
    expect(named.called).toEqual(['https://new.example.com']);
    expect(named.sent).toContain('of-the-files');
    const both = { ...moved, apiTokens: SPACE.apiTokens };
    const covered = await ask(NEXT, both, ['cloud-read', 'cloud-write', 'cloud-admin'].map(secret));
    expect(covered.sent).toContain('of-the-files');
    expect(covered.sent).not.toMatch(/(read|write|admin)-secret-0123456789/);
    const some = await ask(NEXT, both, ['cloud-read'].map(secret));
    expect(some.called).toEqual([]);
    const elsewhere = secret('theirs');
    const { manifest } = elsewhere;
    const metadata = { ...manifest.metadata, namespace: 'other' };
    expect((await ask(NEXT, moved, [{ ...elsewhere, manifest: { ...manifest, metadata } }])).called).toEqual([]);
  });

  it('minds no Secret in the files that is empty, as templates may leave it', async () => {
    const empty = ['other', 'shop'].map((namespace) => ({
      where: 'b.yaml',
      manifest: { kind: 'Secret', metadata: { name: 'empty', namespace }, data: null, stringData: null },
    })) as unknown as readonly Document[];
    const moved = { baseURL: 'https://new.example.com', apiTokens: TOKEN };
    for (const each of empty) {
      const { called, notes } = await ask(NEXT, moved, [secret('theirs'), each]);
      expect(called, notes.join()).toEqual(['https://new.example.com']);
    }
  });

  it('sends nothing to a cloud that the operator may not ask', async () => {
    const told = { ...NOTHING_TOLD, allowedBaseURLs: ['https://other.example.com'] };
    const { called, notes } = await ask(NEXT, {}, [], told);
    expect(called).toEqual([]);
    expect(notes.join()).toMatch(/was not asked, .* is not among the operator's --allowed-base-urls/);
  });

  it('sends nothing in clear text, except to loopback', async () => {
    const at = (baseURL: string, told = NOTHING_TOLD) =>
      ask(NEXT, { baseURL, apiTokens: TOKEN }, [secret('theirs')], told);
    const clear = await at('http://new.example.com');
    expect(clear.called).toEqual([]);
    expect(clear.notes.join()).toMatch(/was not asked, .*"http:\/\/new\.example\.com" is not https/);
    const allowed = await at('http://new.example.com', { ...NOTHING_TOLD, allowHTTP: true });
    expect(allowed.called).toEqual([]);
    expect(allowed.notes.join()).toMatch(/was not asked, .*: a plan sends no API token by http$/);
    expect((await at('http://127.0.0.1:8080')).called).toEqual(['http://127.0.0.1:8080']);
  });

  it('says of a cloud that did not answer well that it could not be asked', async () => {
    const { notes } = await ask(NEXT, { baseURL: 'https://new.example.com', apiTokens: TOKEN }, [secret('theirs')]);
    expect(notes.join()).toMatch(/could not be asked, so the plan uses/);
    expect(notes.join()).not.toContain('was not asked');
  });
});
