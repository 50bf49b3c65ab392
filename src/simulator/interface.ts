import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { HttpTransport } from '../base/transport.ts';
import type { AddressBook, Cluster, Credentials, TeamOptions } from './cloud/state.ts';
import type { Dialect } from './dialect.ts';
import type { Incoming } from './exchange/message.ts';
import type { Outcome } from './faults/effects.ts';
import type { Faults } from './faults/faults.ts';
import type { Snapshot } from './inspect.ts';
import type { Knobs } from './knobs.ts';
import type { Outsider } from './outsider.ts';
import type { SavedState } from './saved-state.ts';

export interface SimulatorOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly dialect?: Dialect;
  readonly knobs?: Partial<Knobs>;
  readonly teams?: readonly TeamOptions[];
  /** The login that every new cluster comes with. */
  readonly defaultCredentials?: Credentials;
  readonly availableVersions?: readonly string[];
  /** The state that an earlier run saved. */
  readonly state?: SavedState;
  /** The address, as `host:port`, of the `count`th server that needs a new one. Default: a name that only `transport` knows. */
  readonly addressOf?: (count: number) => string;
}

export interface Simulator extends Outsider, Hosting {
  readonly clock: Clock;
  /** Serves `baseURL` and the address of every running server, in process. */
  readonly transport: HttpTransport;
  readonly baseURL: string;
  readonly dialect: Dialect;
  readonly teams: readonly TeamOptions[];
  readonly defaultCredentials: Credentials;
  readonly faults: Faults;
  handle(request: Incoming, signal?: AbortSignal): Promise<Outcome>;
  /** Everything in the simulator now, without secrets. */
  inspect(): Snapshot;
  /** Clusters, users and databases, for `state` of a later run. */
  save(): SavedState;
  /** How often an operation was requested, for one cluster or for all. */
  count(operation: string, clusterID?: string): number;
  resetCounters(): void;
  knobs(): Knobs;
  setKnobs(knobs: Partial<Knobs>): void;
  /** Calls back after every change of a cluster or its servers, or of the faults (without a cluster). */
  onChange(listener: (cluster?: Cluster) => void): () => void;
}

/** For callers that put the servers on a network. */
export interface Hosting {
  clusters(): Iterable<Cluster>;
  /** Reports whether a server at this address takes connections now. */
  isServing(cluster: Cluster, address: string): boolean;
  /** Lets everything happen to the cluster that is due by now. */
  settle(cluster: Cluster): void;
  /** When something next happens to the cluster by itself. */
  nextEventMs(cluster: Cluster): number | undefined;
  /** Gives its servers other addresses. */
  move(cluster: Cluster): void;
  /** Takes servers' addresses from this book from now on; existing servers move. */
  useAddresses(addresses: AddressBook): void;
}
