import type { AnyObject, ObjectRef, Resource } from '../../src/kube/api.ts';
import { LEASE_TIMES } from '../../src/kube/lease.ts';
import type { ProcessClock } from '../support/process-clock.ts';
import type { Effect, Fault } from './faults.ts';
import type { Read, ReadFault } from './reads.ts';
import type { Weather } from './weather.ts';

/** One process of the operator. Once it is dead its calls have no effect and never end. */
export interface Process {
  readonly number: number;
  readonly clock: ProcessClock;
  alive: boolean;
  /** The process is frozen. */
  isStill?: boolean;
  /** Returns why its operator may send nothing at this moment. */
  fence: () => string | undefined;
  /** The name of its own Lease, if each process has one. */
  lease?: string;
  /** Until when it cannot reach the API server, by the world's clock. */
  partitionedUntil: number;
  /** Tells it to end, as Kubernetes does. */
  readonly stop: AbortController;
  /** When it sent its last successful renewal of the Lease. */
  renewedAt?: Moment;
}

/** A moment by the world's clock, and by both clocks of a process. */
interface Moment {
  readonly at: number;
  readonly monotonic: number;
  readonly wall: number;
}

/** Reports whether the process cannot know that its renewal is late: all its clocks show less time than has passed. */
export function isDeceived({ renewedAt, clock }: Process, now: number): boolean {
  if (renewedAt === undefined) return false;
  const told = Math.max(clock.monotonic() - renewedAt.monotonic, clock.now() - renewedAt.wall);
  return told < LEASE_TIMES.renewDeadlineMs && now - renewedAt.at >= LEASE_TIMES.renewDeadlineMs;
}

/** Of a call: before it arrives, or when its answer has left. */
export type When = 'asked' | 'answered';
export type Freezing = Extract<Fault, 'freeze' | 'suspendMachine' | 'stopMachine'>;

/** What the world does around each call of a process. */
export interface Surroundings {
  readonly weather: Weather;
  /** Called before a look; returns what goes wrong with it. */
  beforeRead(process: Process, read: Pick<Read, 'to' | 'what'>): ReadFault | undefined;
  /** Called before an effect; returns what goes wrong with it. */
  before(process: Process, effect: Omit<Effect, 'index'>): Promise<Fault | undefined>;
  after(process: Process): void;
  /** Ends the process at once: nothing that it still does takes effect. */
  crash(process: Process): void;
  /** Freezes the process until the clock wakes it. */
  freeze(process: Process, fault: Freezing): void;
  /** Carries out a request when nobody waits for it any more. */
  landLater(what: string, work: () => Promise<unknown>): void;
  isPartitioned(process: Process): boolean;
  /** The process hears of the object as it is. */
  told(process: Process, object: Pick<AnyObject, 'metadata'>): void;
  /** A write of the object's finalizers begins, or has arrived. If it never arrives, that is not the operator's fault. */
  holding(resource: Resource, ref: ObjectRef, arrived: boolean): void;
  /**
   * Called before a call arrives, and when its answer is about to come: resolves when it goes on. Returns what is answered instead: then
   * what has not arrived never does.
   */
  held(process: Process, what: string, when: When): Promise<Fault | undefined>;
  /** By the world's clock. */
  now(): number;
  /** Waits for the time that a call or an event takes on its way, by chance. */
  travel(): Promise<void>;
  /** Reports whether a call fails by chance, in flaky weather. */
  fails(): boolean;
}
