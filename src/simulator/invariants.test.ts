import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressOf, CLUSTERS, cloudBench, DEPLOY, DEPLOY_FREE, sender } from '../../test/support/simulator.ts';
import { DIALECTS } from './dialect.ts';
import { FAULT_EFFECTS, type FaultEffect } from './faults/faults.ts';
import type { Snapshot } from './inspect.ts';
import { parseState } from './saved-state.ts';

/* These hold whatever is requested, in whatever order and with whatever faults. */

type Step =
  | {
      readonly do: 'deploy' | 'deployFree' | 'clone' | 'get' | 'suspend' | 'resume' | 'destroy' | 'vanish' | 'replace';
      readonly id: string;
      readonly other: string;
    }
  | { readonly do: 'rename'; readonly id: string; readonly other: string }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'fault'; readonly effect: FaultEffect; readonly id: string }
  | { readonly do: 'password'; readonly id: string; readonly password: string };

const id = fc.constantFrom('a', 'b', 'c', 'd');
const quickEffects = (Object.keys(FAULT_EFFECTS) as FaultEffect[]).filter(
  (effect) => !['delay', 'lateAnswer', 'hang'].includes(effect),
);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'deploy',
        'deployFree',
        'clone',
        'get',
        'suspend',
        'resume',
        'destroy',
        'vanish',
        'replace',
        'rename',
      ),
      id,
      other: id,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.nat(2000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fault'), effect: fc.constantFrom(...quickEffects), id }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('password'), id, password: fc.string() }) },
);

const knobs = fc.record({
  provisionMs: fc.constantFrom([0, 0], [1000, 1000], [0, 2000]) as fc.Arbitrary<[number, number]>,
  destroyMs: fc.constantFrom([0, 0], [1000, 1000]) as fc.Arbitrary<[number, number]>,
  suspendMs: fc.constant<[number, number]>([500, 500]),
  transitionalOperations: fc.constantFrom('refuse', 'accept' as const),
  redundantOperations: fc.constantFrom('refuse', 'accept' as const),
  resumeChangesAddress: fc.boolean(),
  acceptsAnyPassword: fc.boolean(),
  levelsNest: fc.constant(true),
});

async function run(steps: readonly Step[], options: Parameters<typeof cloudBench>[0]) {
  const bench = cloudBench(options);
  const { simulator, clock, send } = bench;
  const statuses: number[] = [];
  const seen = new Map<string, number>();
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await send(method, `${CLUSTERS}${path}`, {
      token: await bench.token('admin'),
      ...(body === undefined ? {} : { body }),
    });
    statuses.push(answer.status);
  };
  const does: Readonly<Record<string, (id: string, other: string) => Promise<void> | void>> = {
    deploy: (name) => ask('POST', '/deploy', { ...DEPLOY, id: name }),
    deployFree: (name) => ask('POST', '/deploy', { ...DEPLOY_FREE, id: name }),
    clone: (name, other) => ask('POST', `/${name}/clone`, { id: other }),
    get: (name) => ask('GET', `/${name}`),
    suspend: (name) => ask('POST', `/${name}/suspend`),
    resume: (name) => ask('POST', `/${name}/resume`),
    destroy: (name) => ask('DELETE', `/${name}`),
    rename: (name, other) => ask('PATCH', `/${name}`, { id: other }),
    vanish: (name) => attempt(() => simulator.vanish(name)),
    replace: (name) => attempt(() => simulator.replaceCluster(name)),
  };
  for (const one of steps) {
    if (one.do === 'wait') clock.advance(one.ms);
    else if (one.do === 'fault') simulator.faults.add({ effect: one.effect, times: 1, match: { clusterID: one.id } });
    else if (one.do === 'password') attempt(() => simulator.setPassword(one.id, 'admin', one.password));
    else await does[one.do]?.(one.id, one.other);
    checkSnapshot(simulator.inspect(), seen);
  }
  return { ...bench, statuses };
}

/** Acting on a cluster that does not exist is no act. */
function attempt(act: () => void): void {
  try {
    act();
  } catch (error) {
    expect(String(error)).toContain('There is no cluster');
  }
}

function checkSnapshot(snapshot: Snapshot, seen: Map<string, number>): void {
  const clusters = snapshot.teams.flatMap((team) => team.spaces.flatMap((space) => space.clusters));
  const ids = clusters.map((cluster) => cluster.id);
  expect(new Set(ids).size, 'one cluster an id').toBe(ids.length);
  const created = clusters.map((cluster) => cluster.createdAt);
  expect(new Set(created).size, 'one createdAt a cluster').toBe(created.length);
  const addresses = clusters.flatMap((cluster) => cluster.servers.map((server) => server.address));
  expect(new Set(addresses).size, 'one server an address').toBe(addresses.length);
  expect(clusters.filter((cluster) => cluster.isFree).length, 'free clusters a team').toBeLessThanOrEqual(1);
  for (const cluster of clusters) {
    expect(cluster.servers.length).toBe(cluster.serverCount);
    const running = cluster.servers.filter((server) => server.status === 'running').length;
    if (['starting', 'resuming', 'suspended'].includes(cluster.status)) expect(running, cluster.status).toBe(0);
    if (cluster.status === 'suspended') expect([cluster.liveTokens, cluster.openTransactions]).toEqual([0, 0]);
  }
  for (const [operation, count] of Object.entries(snapshot.counters.byOperation)) {
    expect(count, `counter of ${operation}`).toBeGreaterThanOrEqual(seen.get(operation) ?? 0);
    seen.set(operation, count);
  }
}

describe('the simulator', { timeout: 30_000 }, () => {
  it.each(DIALECTS)('keeps its invariants whatever is done to it, in dialect %s', async (dialect) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), knobs, async (steps, drawn) => {
        const { statuses, simulator, clock } = await run(steps, { dialect, knobs: drawn });
        for (const status of statuses) expect([0, 200, 400, 401, 404, 409, 429, 500, 502, 503]).toContain(status);
        // Once nothing more is requested, everything comes to rest.
        clock.advance(10_000);
        for (const space of simulator.inspect().teams.flatMap((team) => team.spaces)) {
          for (const cluster of space.clusters) expect(['running', 'suspended']).toContain(cluster.status);
        }
        // And what is saved is what exists.
        const restored = cloudBench({ dialect, state: parseState(JSON.stringify(simulator.save())) }, clock).simulator;
        expect(
          JSON.parse(JSON.stringify(restored.save().clusters.map((cluster) => ({ ...cluster, servers: [] })))),
        ).toEqual(
          JSON.parse(JSON.stringify(simulator.save().clusters.map((cluster) => ({ ...cluster, servers: [] })))),
        );
      }),
      { numRuns: 60 },
    );
  });

  it('does the same again from the same seed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), knobs, async (steps, drawn) => {
        const [first, second] = [await run(steps, { knobs: drawn }), await run(steps, { knobs: drawn })];
        expect(second.simulator.inspect()).toEqual(first.simulator.inspect());
      }),
      { numRuns: 20 },
    );
  });

  it('answers any request with an answer of the documents, and never with a bug', async () => {
    const segment = fc.oneof(
      fc.constantFrom('api', 'v1', 'team', 'acme', 'spaces', 'production', 'clusters', 'orders', 'deploy', 'auth', ''),
      fc.constantFrom('signin', 'databases', 'main', 'users', 'admin', 'transactions', 'open', 'query', 'health'),
      fc.string({ unit: 'grapheme' }).map((text) => encodeURIComponent(text.toWellFormed())),
      fc.constantFrom('%', '%zz', '%2e%2e', '..%2f', '%00', '%F0%9F'),
    );
    const request = fc.record({
      method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
      path: fc.array(segment, { maxLength: 8 }).map((segments) => `/${segments.join('/')}`),
      raw: fc.oneof(fc.constant(''), fc.json(), fc.string()),
      onServer: fc.boolean(),
      authorized: fc.boolean(),
    });
    const bench = cloudBench();
    bench.simulator.deployForeign({ id: 'orders' });
    const admin = await bench.token('admin');
    const server = sender(bench.simulator.transport, `https://${addressOf(bench.simulator, 'orders')}`);
    const { token } = (
      await server('POST', '/v1/signin', { body: { username: 'admin', password: 'password' } })
    ).json() as { token: string };
    await fc.assert(
      fc.asyncProperty(request, async ({ method, path, raw, onServer, authorized }) => {
        const send = onServer ? server : bench.send;
        const answer = await send(method, path, {
          ...(authorized ? { token: onServer ? token : admin } : {}),
          ...(raw === '' || method === 'GET' ? {} : { raw }),
        });
        expect(answer.text).not.toContain('"unexpected"');
        expect(answer.status).not.toBe(500);
        if (answer.status >= 400) {
          expect(answer.json()).toEqual({ code: expect.any(String), message: expect.any(String) });
        }
      }),
      { numRuns: 300 },
    );
  });
});
