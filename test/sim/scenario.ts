import type { Dialect } from '../../src/simulator/dialect.ts';
import { FAULT_NAMES, type Fault } from './faults.ts';
import type { ReadFault } from './reads.ts';
import type { Subject } from './strike.ts';
import { CLUSTERS, USERS } from './view.ts';
import type { World } from './world.ts';

export interface Scenario {
  readonly name: string;
  /** The object that the scenario is about. Default: DatabaseCluster orders. */
  readonly subject?: Subject;
  /** How the servers behave. Default: document, and field in one seed of three. */
  readonly dialect?: Dialect;
  /** The cluster has several servers, and which of them takes changes may change. */
  readonly hasSeveral?: true;
  /** Sets the scene; faults do not strike yet. */
  readonly prepare?: (world: World) => Promise<void>;
  /** What a person does, waiting between the steps. Faults strike from here on. */
  readonly act: (world: World) => Promise<void>;
  /** Reports whether the scenario has ended, unless a fault made a person ask for something else. */
  readonly ends: (world: World) => boolean;
  /** Only a look at its regular time or a slow retry brings the scenario to its end. */
  readonly isSlow?: true;
  /** The end depends on when what goes wrong: each object must say why. */
  readonly mayEndElsewhere?: (world: World) => boolean;
  /** Faults that are believed, as they may be, and may leave something harmless behind. */
  readonly leavesTraces?: readonly ReadFault[];
  /** An effect that is never needed, whatever goes wrong. */
  readonly never?: RegExp;
  /** Faults that have no meaning here. */
  readonly without?: readonly Fault[];
}

/** Faults that matter when a server refuses something; the others only take long then. */
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

/** Creates a cluster, and waits until it is Ready. */
export async function running(world: World, spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await world.people.createCluster(spec);
  await world.until(() => isReady(world), 'orders is Ready');
}

/** Creates a cluster, and a user on it, and waits until both are Ready. */
export async function withUser(world: World, spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await running(world, spec);
  await world.people.create(USERS, 'app', { clusterRef: { name: 'orders' } });
  await world.until(() => isReady(world, 'app', USERS), 'app is Ready');
}

/** A server refuses every user and password, until some minutes after the object has reported that. */
export async function whileRefused(world: World, act: () => Promise<unknown>, name?: string, resource = CLUSTERS) {
  const { clock, simulator, view } = world;
  const match = { operation: ['createUser', 'updateUser'] };
  simulator.faults.add({ match, effect: 'errorBefore', status: 400 });
  await act();
  await world.wait(
    () => view.ready(name, resource) === 'False RefusedByServer',
    'the status says that the server refuses',
  );
  await clock.advance(REFUSED_MS);
  simulator.faults.clear();
}

/** Makes a running cluster of somebody else. `adoptable`: an object may take it over. */
export function foreign(world: World, id: string, adoptable = false): void {
  world.others((simulator) =>
    simulator.deployForeign({ id, machineType: 'c2d-highcpu-4', storageSizeGB: 100, version: '3.5.0' }),
  );
  const cluster = world.view.cluster(id);
  if (adoptable && cluster !== undefined) world.invariants.mayBeAdopted(cluster);
}
