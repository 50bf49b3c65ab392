import { describe, expect, it } from 'vitest';
import { aCluster, aSpace } from '../../../test/support/builders.ts';
import { kindBench } from '../../../test/support/kind-bench.ts';
import { observe } from '../../../test/support/observed-cluster.ts';
import { placesOf } from '../../../test/support/places.ts';
import type { DatabaseSpaceSpec } from '../databasespace/schema.ts';
import { admitIt } from '../namespaces.ts';

describe('observeCluster() looks for the space and', () => {
  const elsewhere = aCluster().with({ spaceRef: { name: 'production', namespace: 'platform' } });
  const spaceWith = (spec: Partial<DatabaseSpaceSpec>) => ({
    space: () => ({
      spec: { ...aSpace().subject.spec, ...spec },
      ready: { status: 'True', reason: 'Observed', message: '' },
    }),
  });

  it('says when there is none', async () => {
    const seen = await observe(await kindBench(), aCluster(), { space: () => undefined, spaceKeys: () => [] });
    expect(seen).toMatchObject({
      space: 'waiting',
      reason: 'SpaceNotFound',
      message: expect.stringMatching(/: create it, or check spaceRef$/),
    });
  });

  it('says which one may be meant if none has that name', async () => {
    const given = aCluster().with({ spaceRef: { name: 'prodution' } });
    const seen = await observe(await kindBench(), given, { space: () => undefined });
    expect(seen).toMatchObject({ message: expect.stringContaining('check spaceRef (did you mean "production"?)') });
  });

  it('says so if it may be in a namespace that is not watched', async () => {
    const watches = (namespace: string) => namespace !== 'platform';
    const seen = await observe(await kindBench(), elsewhere, { space: () => undefined, watches });
    expect(seen).toMatchObject({ message: expect.stringContaining('this operator does not watch that namespace') });
  });

  it('waits until it is listed', async () => {
    const seen = await observe(await kindBench(), elsewhere, spaceWith({ allowedNamespaces: { from: 'All' } }));
    expect(seen).toMatchObject({ space: 'waiting', reason: 'WaitingForSpace' });
  });

  describe('while it waits for its first look', () => {
    const unseen = { spec: aSpace().subject.spec, ready: undefined };
    const observed = { ...unseen, ready: { status: 'True', reason: 'Observed', message: '' } };
    const refused = { ...unseen, ready: { status: 'False', reason: 'CredentialsInvalid', message: '' } };
    const putOff = { ...unseen, ready: { status: 'Unknown', reason: 'CloudThrottled', message: '' } };
    const lacking = { ...unseen, ready: { status: 'Unknown', reason: 'SecretNotFound', message: '' } };
    const looking = { ...unseen, ready: { status: 'Unknown', reason: 'Observing', message: '' } };
    const told = aCluster().withCondition('Ready', 'Unknown', 'SpaceNotFound');
    const looked = aCluster().withCondition('Ready', 'Unknown', 'Observing');

    it.each([
      ['keeps quiet for a minute', aCluster(), unseen, 60_000],
      ['keeps quiet in a new process, too', aCluster(), observed, 60_000],
      ['keeps quiet when the cloud has put it off, too', aCluster(), putOff, 60_000],
      ['keeps quiet while that look takes long, too', aCluster(), looking, 60_000],
      ['keeps quiet if its own first look took long, too', looked, looking, 60_000],
      ['says what is wrong with the space', aCluster(), refused, undefined],
      ['says, too, what it lacks before it can have one', aCluster(), lacking, undefined],
      ['says so at once if it said something else before', told, unseen, undefined],
    ])('%s', async (_what, given, space, untoldMs) => {
      const bench = await kindBench();
      bench.world().connections.disconnect('shop/production');
      expect(await observe(bench, given, { space: () => space })).toMatchObject({ space: 'waiting', untoldMs });
    });

    it.each([
      ['it is only about to be listed by a new process', observed, true, 'this process has not listed it yet'],
      ['something is wrong with it', refused, false, 'its condition Ready says CredentialsInvalid'],
      ['it says nothing', unseen, false, 'it has not been checked yet'],
    ])('tells whether %s, as then what was said before stays', async (_what, space, starting, why) => {
      const bench = await kindBench();
      bench.world().connections.disconnect('shop/production');
      const message = expect.stringContaining(`to be observed: ${why}`);
      expect(await observe(bench, aCluster(), { space: () => space })).toMatchObject({ starting, message });
    });

    it('says so after that minute, and keeps quiet again when it waits another time', async () => {
      const bench = await kindBench();
      const world = { ...bench.world(), space: () => unseen, connections: { get: () => undefined } as never };
      const left = async () => await observe(bench, aCluster(), world);
      await left();
      await bench.clock.advance(59_000);
      expect(await left()).toMatchObject({ untoldMs: 1_000 });
      await bench.clock.advance(1_000);
      expect(await left()).toMatchObject({ untoldMs: undefined });
      expect(await observe(bench, aCluster())).toMatchObject({ space: 'seen' });
      expect(await left()).toMatchObject({ untoldMs: 60_000 });
    });

    it('says so after ten seconds of a look that goes on', async () => {
      const bench = await kindBench();
      const connection = { ...bench.world().connections.get('shop/production'), poller: { has: () => false } };
      const looked = { space: () => unseen, connections: { get: () => connection } as never };
      expect(await observe(bench, aCluster(), looked)).toMatchObject({ untoldMs: 10_000 });
      await bench.clock.advance(10_000);
      expect(await observe(bench, aCluster(), looked)).toMatchObject({ untoldMs: undefined });
    });
  });

  it('says after a minute that it was listed and its status does not tell of it, as when that cannot be written', async () => {
    const bench = await kindBench();
    const connection = bench.world().connections.get('shop/production') ?? expect.unreachable();
    const spec = aSpace().subject.spec;
    const listed = {
      space: () => ({ spec, ready: undefined }),
      connections: { get: () => connection } as never,
    };
    await connection.poller.refresh();
    expect(await observe(bench, aCluster(), listed)).toMatchObject({ untoldMs: 60_000 });
    await bench.clock.advance(60_000);
    expect(await observe(bench, aCluster(), listed)).toMatchObject({
      untoldMs: undefined,
      message: expect.stringContaining('it was listed, but its status does not say so: if that cannot be written'),
    });
  });

  it('begins nothing new while something is wrong with it, and goes on with what has begun', async () => {
    const bench = await kindBench();
    const amiss = {
      space: () => ({
        spec: aSpace().subject.spec,
        ready: { status: 'False', reason: 'CredentialsInvalid', message: '' },
      }),
    };
    expect(await observe(bench, aCluster(), amiss)).toMatchObject({ space: 'waiting', reason: 'WaitingForSpace' });
    for (const begun of [
      aCluster().announced(),
      aCluster().owned(),
      aCluster().with({ deletionPolicy: 'Delete' }).deleting(),
    ])
      expect(await observe(bench, begun, amiss)).toMatchObject({ space: 'seen' });
  });

  it.each([
    ['True', 'Observed', 'it has just been changed'],
    ['Unknown', 'SecretNotFound', 'it was changed to name another place, and its condition Ready says SecretNotFound'],
  ] as const)('is not worked in where it is no longer: its Ready is %s', async (status, reason, why) => {
    const spec = { ...aSpace().subject.spec, spaceID: 'preview' };
    const elsewhere = (told: DatabaseSpaceSpec | undefined) => ({
      places: placesOf({ 'shop/production': spec }),
      space: () => ({ spec: told, ready: { status, reason, message: '' } }),
    });
    const message = `Waiting for DatabaseSpace "production" in namespace "shop": ${why}`;
    // Nor if the rest of its spec makes no sense: which objects have a cluster there goes by the place that it names.
    for (const told of [spec, undefined]) {
      const seen = await observe(await kindBench(), aCluster(), elsewhere(told));
      expect(seen).toMatchObject({ space: 'waiting', reason: 'WaitingForSpace', message });
    }
  });

  it.each<[string, DatabaseSpaceSpec['allowedNamespaces'], string]>([
    ['no other namespace by default', undefined, 'SpaceNotAllowed'],
    ['no other namespace with Same', { from: 'Same' }, 'SpaceNotAllowed'],
    ['any with All', { from: 'All' }, 'WaitingForSpace'],
    ['those that match', { from: 'Selector', selector: { matchLabels: { team: 'shop' } } }, 'WaitingForSpace'],
    ['none that do not match', { from: 'Selector', selector: { matchLabels: { team: 'x' } } }, 'SpaceNotAllowed'],
  ])('is admitted to: %s', async (_what, allowedNamespaces, reason) => {
    const seen = await observe(await kindBench(), elsewhere, {
      ...spaceWith({ allowedNamespaces }),
      namespaceLabels: async () => ({ team: 'shop' }),
    });
    expect(seen).toMatchObject({ reason });
    if (seen.space === 'refused') expect(seen.message).toContain(admitIt(allowedNamespaces, "the space's"));
  });
});
