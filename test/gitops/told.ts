import type { Condition } from '../../src/kube/condition.ts';
import type { Scenario } from '../sim/scenario.ts';
import { SCENARIOS } from '../sim/scenarios.ts';
import { World } from '../sim/world.ts';
import { RESOURCES, SITUATIONS } from './situations.ts';

/** How a kind has reported a reason: `DatabaseCluster Deploying: Ready=Unknown Reconciling`. */
export type Told = string;

/** The summary of an object: Ready's status, and which of the other two exist. */
export function toldBy(kind: string, conditions: readonly Pick<Condition, 'type' | 'status' | 'reason'>[]): Told {
  const ready = conditions.find(({ type }) => type === 'Ready');
  const others = conditions.filter(({ type }) => type === 'Reconciling' || type === 'Stalled').map(({ type }) => type);
  return [`${kind} ${ready?.reason}:`, `Ready=${ready?.status}`, ...others].join(' ');
}

/** Everything that the operator writes as summary while the scenarios of the simulation and the situations are played. */
export async function everythingTold(): Promise<ReadonlySet<Told>> {
  const told = new Set<Told>();
  for (const { bring } of SITUATIONS) await listen(told, bring);
  for (const scenario of SCENARIOS) {
    await listen(
      told,
      async (world) => {
        await scenario.prepare?.(world);
        await scenario.act(world);
        await world.until(() => scenario.ends(world), `the end of ${scenario.name}`);
      },
      scenario.subject,
    );
  }
  return told;
}

async function listen(told: Set<Told>, play: (world: World) => Promise<void>, subject?: Scenario['subject']) {
  const world = new World(undefined, subject);
  const end = new AbortController();
  const collect = async (kind: keyof typeof RESOURCES) => {
    for await (const event of world.kube.watch(
      RESOURCES[kind],
      { resourceVersion: '0', timeoutSeconds: 300 },
      end.signal,
    )) {
      if (event.type !== 'MODIFIED') continue;
      // An object of this kind.
      const { status } = event.object as { status?: { conditions?: readonly Condition[] } };
      if (status?.conditions !== undefined) told.add(toldBy(kind, status.conditions));
    }
  };
  const collecting = (['DatabaseSpace', 'DatabaseCluster', 'DatabaseUser', 'Database'] as const).map(collect);
  try {
    await world.start();
    await play(world);
    await world.clock.settle();
  } finally {
    world.stop();
    end.abort();
    await Promise.all(collecting);
  }
}
