import { describe, expect, it } from 'vitest';
import { HttpError } from '../../base/transport.ts';
import { DATABASE_CLUSTERS } from '../../kinds/databasecluster/resource.ts';
import { databaseClusterDefinition } from '../../kinds/databasecluster/schema.ts';
import type { KubeApi } from '../../kube/api.ts';
import { LEASES } from '../../kube/lease.ts';
import { microTime } from '../../kube/object.ts';
import { FakeKube } from '../../sandbox/fake-kube.ts';
import { virtualClock } from '../../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../../simulator/seeded-random.ts';
import { INTERRUPTED, TIMED_OUT } from '../command-line/exit-code.ts';
import { CHANGES, type Change } from './change.ts';
import { type ChangeTools, makeChange } from './make-change.ts';

const ref = { namespace: 'shop', name: 'orders' };

/** A cluster that runs, and no operator that works on it. */
async function aDesk(annotations: Readonly<Record<string, string>> = {}) {
  const clock = virtualClock();
  const statusDefaults = { databaseclusters: { observedGeneration: -1 } };
  const kube = new FakeKube({ now: clock.now, random: createSeededRandom(1), statusDefaults });
  const object = { metadata: { name: 'orders', annotations }, spec: { state: 'Running' } };
  await kube.create(DATABASE_CLUSTERS, 'shop', object);
  const tell = async (status: string, reason: string, message: string, stalled = false) => {
    const { metadata } = (await kube.get(DATABASE_CLUSTERS, ref)) ?? {
      metadata: { generation: 0, resourceVersion: '' },
    };
    const condition = {
      status,
      reason,
      message,
      observedGeneration: metadata.generation,
      lastTransitionTime: '2026-11-21T10:00:00Z',
    };
    const conditions = [
      { ...condition, type: 'Ready' },
      ...(stalled ? [{ ...condition, type: 'Stalled', status: 'True' }] : []),
    ];
    const body = {
      metadata: { resourceVersion: metadata.resourceVersion },
      status: { observedGeneration: metadata.generation, conditions },
    };
    await kube.patch(DATABASE_CLUSTERS, ref, body, { subresource: 'status' });
  };
  await tell('True', 'Running', 'It runs');
  const lines: string[] = [];
  const stop = new AbortController();
  const make = async (name: string, given: Partial<ChangeTools> & { timeoutMs?: number; wait?: boolean } = {}) => {
    const { timeoutMs = 60_000, wait = true, ...tools } = given;
    const change = CHANGES[name] as Change;
    const request = { name, change, definition: databaseClusterDefinition, ref, wait, timeoutMs };
    const making = makeChange(request, {
      api: kube,
      clock,
      reach: ' --context prod',
      signal: stop.signal,
      tell: (line) => lines.push(line),
      ...tools,
    });
    return { ended: making, end: (ms: number) => clock.advance(ms).then(() => making) };
  };
  const renew = async (namespace: string, name: string, atMs: number) => {
    const spec = { holderIdentity: name, leaseDurationSeconds: 15, renewTime: microTime(clock.now() + atMs) };
    if (await kube.get(LEASES, { namespace, name })) await kube.patch(LEASES, { namespace, name }, { spec });
    else await kube.create(LEASES, namespace, { metadata: { name }, spec });
  };
  /** The operator's Lease, renewed at this time; that of a node is renewed now. */
  const lease = async (atMs: number) => {
    await renew('kube-node-lease', 'node-1', 0);
    await renew('mooring-system', 'mooring', atMs);
  };
  const spec = async () => ((await kube.get(DATABASE_CLUSTERS, ref)) as { spec?: object } | undefined)?.spec;
  return { clock, kube, make, tell, lines, stop, spec, lease };
}

describe('makeChange()', () => {
  it('sets it, reports progress, and says the outcome', async () => {
    const desk = await aDesk();
    const { end } = await desk.make('suspend');
    await desk.clock.advance(1_000);
    expect(await desk.spec()).toEqual({ state: 'Suspended' });
    await desk.tell('Unknown', 'Suspending', 'It is being suspended');
    await desk.clock.advance(1_000);
    await desk.tell('True', 'Suspended', 'It sleeps');
    expect(await end(1_000)).toEqual({ code: 0, text: 'It sleeps' });
    expect(desk.lines).toEqual(['Waiting for Mooring to look at it', 'Suspending: It is being suspended']);
  });

  it('says while it waits, and when it gives up, that no operator seems to be running', async () => {
    const desk = await aDesk();
    await desk.lease(-300_000);
    const { end } = await desk.make('suspend', { timeoutMs: 20_000 });
    const { code, text } = await end(21_000);
    const sign = 'No operator seems to be running: Lease mooring-system/mooring was last renewed 5m ago';
    expect(desk.lines[0]).toContain(`Waiting for Mooring to look at it. ${sign}`);
    expect(code).toBe(TIMED_OUT);
    expect(text).toContain(sign);
  });

  it('asks whether an operator runs if nothing is heard of it, and no Lease shows it', async () => {
    const desk = await aDesk();
    const { end } = await desk.make('suspend', { timeoutMs: 30_000 });
    await desk.clock.advance(19_000);
    expect(desk.lines).toEqual(['Waiting for Mooring to look at it']);
    const { code, text } = await end(12_000);
    const asked = 'No progress was seen for 20 s: is the operator running, and does it watch this namespace?';
    expect(desk.lines).toEqual([desk.lines[0], `Waiting for Mooring to look at it. ${asked}`]);
    expect(code).toBe(TIMED_OUT);
    expect(text).toContain(asked);
    expect(text).toContain(
      'What was set stays (state: Suspended), and Mooring acts on it once it runs and watches this namespace.',
    );
  });

  it('counts the time from when the operator was last at work', async () => {
    const desk = await aDesk();
    const { end } = await desk.make('suspend', { timeoutMs: 90_000 });
    await desk.clock.advance(5_000);
    await desk.tell('Unknown', 'Suspending', 'It is being suspended');
    await desk.clock.advance(25_000);
    await desk.kube.patch(DATABASE_CLUSTERS, ref, { spec: { deletionPolicy: 'Retain' } });
    await desk.clock.advance(5_000);
    expect(desk.lines.at(-1)).toBe('Waiting for Mooring to look at it');
    await desk.clock.advance(20_000);
    expect(desk.lines.at(-1)).toContain('No progress was seen for 20 s');
    await end(90_000);
  });

  it('asks this for a password too, which changes no generation, and not once it was begun', async () => {
    const desk = await aDesk();
    const { end } = await desk.make('rotate', { timeoutMs: 60_000 });
    await desk.clock.advance(25_000);
    expect(desk.lines.at(-1)).toMatch(/^Waiting for Mooring to begin\. No progress was seen for 20 s/);
    const { metadata } = (await desk.kube.get(DATABASE_CLUSTERS, ref)) ?? {};
    const status = { lastHandledRotateAt: metadata?.annotations?.['mooring.dev/rotate-at'] };
    await desk.kube.patch(DATABASE_CLUSTERS, ref, { status }, { subresource: 'status' });
    const { text } = await end(60_000);
    expect(text).toContain('Last progress: The new password is being put in place\n');
    expect(text).toContain('and Mooring goes on with it.');
  });

  it('stops saying so when an operator runs', async () => {
    const desk = await aDesk();
    await desk.lease(-300_000);
    const { end } = await desk.make('suspend', { timeoutMs: 18_000 });
    await desk.clock.advance(5_000);
    await desk.lease(0);
    await end(19_000);
    expect(desk.lines.at(-1)).toBe('Waiting for Mooring to look at it');
  });

  it.each(['pause', 'unpause'])(
    'says after %s, which is done at once, that no operator seems to be running',
    async (name) => {
      const desk = await aDesk(name === 'unpause' ? { 'mooring.dev/paused': 'true' } : {});
      await desk.lease(-300_000);
      const { end } = await desk.make(name);
      const { code, text } = await end(1_000);
      expect(code).toBe(0);
      expect(text).toMatch(/\nNo operator seems to be running: /);
    },
  );

  it('sets nothing if nothing would come of it, and says so at once', async () => {
    const desk = await aDesk({ 'mooring.dev/paused': 'true' });
    const { ended } = await desk.make('suspend');
    expect(await ended).toEqual({ code: 1, text: expect.stringMatching(/^Nothing was set\. It is paused/) });
    expect(await desk.spec()).toEqual({ state: 'Running' });
  });

  it('ends when something gets in the way, and says what was set', async () => {
    const desk = await aDesk();
    const { end } = await desk.make('suspend');
    await desk.clock.advance(1_000);
    await desk.kube.patch(DATABASE_CLUSTERS, ref, { metadata: { annotations: { 'mooring.dev/paused': 'true' } } });
    const { code, text } = await end(1_000);
    expect(code).toBe(1);
    expect(text).toMatch(/^It is paused/);
    expect(text).toContain('What was set stays (state: Suspended)');
  });

  it('ends when a person must act', async () => {
    const desk = await aDesk();
    const { end } = await desk.make('resume');
    await desk.tell('False', 'RefusedByCloud', 'No', true);
    expect(await end(1_000)).toMatchObject({ code: 1, text: expect.stringContaining('RefusedByCloud: No') });
  });

  it('says after the time-out what was set, that it goes on, and where to look', async () => {
    const desk = await aDesk();
    const { end } = await desk.make('rotate', { timeoutMs: 5_000 });
    const { code, text } = await end(6_000);
    expect(code).toBe(TIMED_OUT);
    expect(text).toBe(
      'Not done in 5 s. Last progress: Waiting for Mooring to begin\n' +
        'What was set stays (annotation mooring.dev/rotate-at), and Mooring acts on it once it runs and watches this namespace. Look with: kubectl mooring status databasecluster/orders --namespace shop --context prod',
    );
  });

  it('says after a time-out in which no look was completed that nothing was seen', async () => {
    const desk = await aDesk();
    let isSet = false;
    const api: KubeApi = {
      ...wrapped(desk.kube),
      get: (resource, where, signal) => (isSet ? untilAborted(signal) : desk.kube.get(resource, where)),
      patch: (resource, where, change, options) => {
        isSet = true;
        return desk.kube.patch(resource, where, change, options);
      },
    };
    const { end } = await desk.make('rotate', { timeoutMs: 1_000, api });
    const { code, text } = await end(2_000);
    expect(code).toBe(TIMED_OUT);
    expect(text).toMatch(/^Not done in 1 s\. No progress was seen in that time\.\nWhat was set stays/);
  });

  it.each(['get', 'patch'] as const)(
    'waits no longer than it may for an API server that never answers a %s',
    async (call) => {
      const desk = await aDesk();
      const api: KubeApi = {
        ...wrapped(desk.kube),
        [call]: (_resource: unknown, _where: unknown, ...rest: readonly unknown[]) =>
          untilAborted(rest.find((each) => each instanceof AbortSignal)),
      };
      const { end } = await desk.make('rotate', { timeoutMs: 5_000, api });
      const { code, text } = await end(5_000);
      expect(code).toBe(TIMED_OUT);
      expect(text).toMatch(
        call === 'get'
          ? /^Nothing was set: the API server did not answer in 5 s$/
          : /^It is not known whether this was set, as the API server did not answer: annotation mooring.dev.rotate-at\./,
      );
    },
  );

  it('sees the outcome even if nobody can say whether an operator runs', async () => {
    const desk = await aDesk();
    const api: KubeApi = { ...wrapped(desk.kube), list: (_resource, _options, signal) => untilAborted(signal) };
    const { end } = await desk.make('suspend', { timeoutMs: 5_000, api });
    await desk.clock.advance(1_000);
    await desk.tell('True', 'Suspended', 'It sleeps');
    expect(await end(2_000)).toEqual({ code: 0, text: 'It sleeps' });
  });

  it('is done once it is set, even if nobody can say in time whether an operator runs', async () => {
    const desk = await aDesk();
    const api: KubeApi = { ...wrapped(desk.kube), list: (_resource, _options, signal) => untilAborted(signal) };
    const { end } = await desk.make('pause', { timeoutMs: 5_000, api });
    expect(await end(5_000)).toMatchObject({ code: 0, text: expect.stringMatching(/^Paused: /) });
  });

  it('says the same after Ctrl-C', async () => {
    const desk = await aDesk();
    const { end } = await desk.make('suspend');
    await desk.clock.advance(1_000);
    desk.stop.abort();
    const { code, text } = await end(0);
    expect(code).toBe(INTERRUPTED);
    expect(text).toMatch(/interrupted.*\n.*state: Suspended.*kubectl mooring status/);
  });

  it('says after Ctrl-C that nothing was set if that had not begun', async () => {
    const desk = await aDesk();
    const api = { ...wrapped(desk.kube), get: (_: unknown, __: unknown, signal?: AbortSignal) => untilAborted(signal) };
    const { ended } = await desk.make('suspend', { api });
    desk.stop.abort();
    expect(await ended).toEqual({ code: INTERRUPTED, text: 'Interrupted: nothing was set' });
  });

  it('asks again when the API server does not answer for a while', async () => {
    const desk = await aDesk();
    let broken = false;
    const api: KubeApi = {
      ...wrapped(desk.kube),
      get: (resource, where) =>
        broken ? Promise.reject(new HttpError('unreachable', 'Refused')) : desk.kube.get(resource, where),
    };
    const { end } = await desk.make('suspend', { api });
    await desk.clock.advance(1_000);
    broken = true;
    await desk.clock.advance(2_000);
    broken = false;
    await desk.tell('True', 'Suspended', 'It sleeps');
    expect(await end(1_000)).toMatchObject({ code: 0 });
    expect(desk.lines.filter((line) => line.includes('is tried again: Refused'))).toHaveLength(1);
  });

  it('does not claim that anything was set if the answer to that was lost', async () => {
    const desk = await aDesk();
    const api = { ...wrapped(desk.kube), patch: () => Promise.reject(new HttpError('lost', 'GET https://x: gone')) };
    const { ended } = await desk.make('suspend', { api });
    expect(await ended).toEqual({
      code: 1,
      text: expect.stringMatching(/^It is not known whether this was set, .*: state: Suspended\. Look with/),
    });
  });

  it('says that an object is gone if it is deleted meanwhile, or does not exist', async () => {
    const desk = await aDesk();
    const { end } = await desk.make('suspend');
    await desk.clock.advance(1_000);
    desk.kube.remove(DATABASE_CLUSTERS, ref);
    expect(await end(1_000)).toMatchObject({ code: 1, text: expect.stringContaining('The object is gone') });
    const { ended } = await desk.make('suspend');
    expect(await ended).toMatchObject({
      code: 1,
      text: expect.stringMatching(/^DatabaseCluster shop\/orders does not exist: check/),
    });
  });

  it('does not wait if told not to', async () => {
    const desk = await aDesk();
    const { ended } = await desk.make('suspend', { wait: false });
    expect(await ended).toMatchObject({ code: 0, text: expect.stringContaining('Set: state: Suspended') });
  });
});

function wrapped(kube: FakeKube): KubeApi {
  return {
    get: (resource, where) => kube.get(resource, where),
    list: (resource, options) => kube.list(resource, options),
    watch: (resource, options, signal) => kube.watch(resource, options, signal),
    create: (resource, namespace, object) => kube.create(resource, namespace, object),
    patch: (resource, where, patch, options) => kube.patch(resource, where, patch, options),
    delete: (resource, where, preconditions) => kube.delete(resource, where, preconditions),
  };
}

function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(new HttpError('aborted', 'Aborted')));
  });
}
