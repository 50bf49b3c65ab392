import type { Clock } from '../../src/base/clock.ts';
import type { Resource } from '../../src/kube/api.ts';
import { LEASES } from '../../src/kube/lease.ts';
import type { FakeKube } from '../../src/sandbox/fake-kube.ts';
import type { Cluster } from '../../src/simulator/cloud/state.ts';
import type { Simulator } from '../../src/simulator/interface.ts';
import type { Fault } from './faults.ts';
import type { Invariants } from './invariants.ts';
import { MEDDLING_MS } from './meddling.ts';
import { MINUTE_MS, type People } from './people.ts';
import type { Process } from './process.ts';
import { electAnother, loseOne } from './servers.ts';
import { refOf } from './view.ts';
import type { Weather } from './weather.ts';

const SECOND_MS = 1_000;
export const LEASE_NAMESPACE = 'mooring-system';
/** The time from the end of a process until the next one starts. */
export const RESTART_MS = SECOND_MS;
const PARTITION_MS = MINUTE_MS;
const WRITES_LOST = { restored: 6, restoredNewest: 1 };
const API_START_MS = 4 * SECOND_MS;
const OLD_LISTS_MS = 2 * MINUTE_MS;
const SERVER_GONE_MS = 2 * MINUTE_MS;
const CLOCK_JUMP_MS = 24 * 60 * MINUTE_MS;
const CLOCK_OFF_MS = 20 * MINUTE_MS;
/** How long the effects of a fault last, if longer than a moment. */
export const LASTS_MS: Partial<Record<Fault, number>> = {
  cloudOutage: 10 * MINUTE_MS,
  serverOutage: 5 * MINUTE_MS,
  apiOutage: 3 * MINUTE_MS,
  clockForward: CLOCK_OFF_MS,
  clockBack: CLOCK_OFF_MS,
  throttled: MINUTE_MS,
  mistake: 5 * MINUTE_MS,
  sleep: 5 * MINUTE_MS,
  pause: 5 * MINUTE_MS,
  meddle: MEDDLING_MS,
  wrongToken: 5 * MINUTE_MS,
  flaky: 2 * MINUTE_MS,
  serverLeaves: SERVER_GONE_MS,
  oldList: OLD_LISTS_MS,
};
/** Edits without a meaning: all they do is make earlier reads stale. */
const WITHOUT_MEANING: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  databaseclusters: { allowUnlisted: true },
  databaseusers: { deletionPolicy: 'Delete' },
  databases: { deletionPolicy: 'Retain' },
};

/** Mistakes that the rules of the definitions do not catch. */
const MISTAKES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  databaseclusters: { allowUnlisted: true, machineType: 'no-such-machine' },
  databaseusers: { passwordSecretRef: { name: 'no-such-secret' } },
  databases: { schema: [{ inline: 'define what nobody understands;' }] },
};

/** The object of a scenario: people edit, pause and delete it, and its namespace. */
export interface Subject {
  readonly resource: Resource;
  readonly name: string;
}

/** What faults can strike. */
interface Struck {
  readonly clock: Clock;
  readonly kube: FakeKube;
  readonly people: People;
  readonly weather: Weather;
  readonly invariants: Invariants;
  readonly subject: Subject;
  readonly living: Iterable<Process>;
  /** Changes something in the cloud. */
  readonly others: (work: (simulator: Simulator) => void) => void;
}

/** Does what a fault does besides changing the effect itself. */
export async function strike(world: Struck, process: Process, fault: Fault): Promise<void> {
  const { clock, kube, people, weather, invariants } = world;
  const { name, resource } = world.subject;
  const gap = () => {
    weather.begin('gap');
    kube.closeWatches();
    clock.after(weather.remainingMs('gap'), () => kube.compact());
  };
  switch (fault) {
    case 'upgrade':
      clock.after(RESTART_MS / 2, () => people.ageStatuses());
      return;
    case 'stale':
    case 'duplicate':
    case 'cloudOutage':
    case 'serverOutage':
    case 'flaky':
      return weather.begin(fault);
    case 'apiOutage':
      weather.begin(fault);
      return kube.closeWatches();
    case 'gap':
      return gap();
    case 'oldList':
      kube.lag();
      clock.after(OLD_LISTS_MS, () => kube.catchUp());
      return gap();
    case 'restored':
    case 'restoredNewest':
      // Some passwords were known to nothing but the Secrets that are lost.
      invariants.lost.loseAll();
      kube.restore(Math.max(1, kube.version - WRITES_LOST[fault]));
      clock.after(API_START_MS, () => kube.initialized());
      return;
    case 'restart':
      kube.restart();
      clock.after(API_START_MS, () => kube.initialized());
      return;
    case 'partition':
      process.partitionedUntil = clock.monotonic() + PARTITION_MS;
      return;
    case 'stolenLease':
      return stealLease(world, process);
    case 'clockForward':
      weather.begin(fault);
      return jump(world, CLOCK_JUMP_MS);
    case 'clockBack':
      return jump(world, -CLOCK_JUMP_MS);
    case 'primaryMoves':
      return ofSeveral(world, electAnother);
    case 'serverLeaves':
      return ofSeveral(world, (simulator, cluster) => {
        const comeBack = loseOne(simulator, cluster);
        clock.after(SERVER_GONE_MS, () => world.others(comeBack));
      });
    case 'edit':
      return people.edit({ spec: WITHOUT_MEANING[resource.plural] ?? {} }, name, resource);
    case 'replace':
      return people.replace(name, resource);
    case 'mistake':
      return people.detour(name, resource, MISTAKES[resource.plural] ?? {});
    case 'sleep':
      return people.suspend(name, resource);
    case 'pause':
      return people.pause(name, resource);
    case 'meddle':
      return people.meddling.begin(name, resource);
    case 'wrongToken':
      return people.replaceTokens();
    case 'delete':
      return people.remove(name, resource);
    case 'recreate':
      return people.recreate(name, resource);
    case 'deleteAround':
      return people.removeAround(name, resource);
    case 'loseSecret':
      return people.loseSecrets();
    case 'terminate':
      return people.terminate(refOf(name).namespace);
    default:
      return;
  }
}

function ofSeveral({ others }: Struck, work: (simulator: Simulator, cluster: Cluster) => void): void {
  others((simulator) => {
    for (const cluster of simulator.clusters()) if (cluster.servers.length > 1) work(simulator, cluster);
  });
}

async function stealLease({ kube, invariants }: Struck, { lease = 'mooring' }: Process): Promise<void> {
  const ref = { namespace: LEASE_NAMESPACE, name: lease };
  if ((await kube.get(LEASES, ref)) === undefined) return;
  const spec = { holderIdentity: 'somebody', leaseDurationSeconds: 15 };
  invariants.peopleWrite(() => kube.patch(LEASES, ref, { spec }));
}

function jump({ clock: time, living }: Struck, ms: number): void {
  const off = [...living];
  for (const { clock } of off) clock.jump(ms);
  time.after(CLOCK_OFF_MS, () => {
    for (const { clock } of off) clock.jump(-ms);
  });
}
