import type { Dialect } from '../../src/simulator/dialect.ts';
import { FAULT_NAMES, type Fault } from './faults.ts';
import type { ReadFault } from './reads.ts';
import type { Subject } from './strike.ts';
import { CLUSTERS } from './view.ts';
import type { World } from './world.ts';

export interface Scenario {
  readonly name: string;
  /** The object that it is about. Default: DatabaseCluster orders. */
  readonly subject?: Subject;
  /** How the servers behave. Default: document, and field in one seed of three. */
  readonly dialect?: Dialect;
  /** The cluster has several servers: which of them takes changes may change. */
  readonly hasSeveral?: true;
  /** What there is before; faults do not strike yet. */
  readonly prepare?: (world: World) => Promise<void>;
  /** What a person does, waiting between the steps. Faults strike from here on. */
  readonly act: (world: World) => Promise<void>;
  /** Where it ends, unless a fault has a person ask for something else. */
  readonly ends: (world: World) => boolean;
  /** What brings it to its end is a look that comes at its time, or a slow retry. */
  readonly isSlow?: true;
  /** Where it ends depends on when what goes wrong: each object must say why. */
  readonly mayEndElsewhere?: boolean;
  /** After these, which are believed as they may be, something harmless may be left besides. */
  readonly leavesTraces?: readonly ReadFault[];
  /** An effect that there is no need for, whatever goes wrong. */
  readonly never?: RegExp;
  /** Faults that have no meaning here. */
  readonly without?: readonly Fault[];
}

/** These have a meaning of their own where a server refuses something; the others only take long there. */
const WITH_REFUSALS: ReadonlySet<Fault> = new Set<Fault>([
  'crashBefore',
  'crashAfter',
  'lostAnswer',
  'conflict',
  'stale',
  'loseSecret',
]);
export const NOT_WITH_REFUSALS = FAULT_NAMES.filter((fault) => !WITH_REFUSALS.has(fault));
/** Long enough for a slow retry. */
export const REFUSED_MS = 150_000;

export const isReady = ({ view }: World, name = 'orders', resource = CLUSTERS) =>
  view.ready(name, resource).startsWith('True');

/** A cluster that runs and is Ready. */
export async function running(world: World, spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await world.people.createCluster(spec);
  await world.until(() => isReady(world), 'orders is Ready');
}

/** A server says no to every user and password, until some minutes after the object was told so. */
export async function whileRefused(world: World, act: () => Promise<unknown>, name?: string, resource = CLUSTERS) {
  const { clock, simulator, view } = world;
  const match = { operation: ['createUser', 'updateUser'] };
  simulator.faults.add({ match, effect: 'errorBefore', status: 400 });
  await act();
  await world.wait(() => view.ready(name, resource) === 'False RefusedByServer', 'it is told that the server refuses');
  await clock.advance(REFUSED_MS);
  simulator.faults.clear();
}

/** A cluster of somebody else, which runs; `adoptable`: an object may take it over. */
export function foreign(world: World, id: string, adoptable = false): void {
  world.others((simulator) =>
    simulator.deployForeign({ id, machineType: 'c2d-highcpu-4', storageSizeGB: 100, version: '3.5.0' }),
  );
  const cluster = world.view.cluster(id);
  if (adoptable && cluster !== undefined) world.invariants.mayBeAdopted(cluster);
}
