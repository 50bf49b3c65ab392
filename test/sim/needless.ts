import type { HttpRequest, HttpResponse } from '../../src/base/http.ts';
import type { Cluster } from '../../src/simulator/cloud/state.ts';
import type { Simulator } from '../../src/simulator/simulator.ts';
import type { Fault } from './faults.ts';
import type { Strike } from './plan.ts';
import type { ReadStrike } from './reads.ts';

/** To get a token, and what a transaction is made of but its commit. */
const CHANGES_NOTHING = /\/(?:auth|signin|transactions\/open|transactions\/[^/]+\/(?:query|close))$/;
/** While these last, what was done cannot be written down, and so is done again at each try. */
const UNWRITTEN: ReadonlySet<Fault> = new Set<Fault>(['apiOutage', 'flaky', 'partition']);
/** Tries in such a time: more than were ever seen. */
const TRIES = 15;

/** Requests that were to change something in the cloud or on a server, were granted, and changed nothing. */
export class NeedlessRequests {
  readonly #simulator: Simulator;
  readonly #found: string[] = [];

  constructor(simulator: Simulator) {
    this.#simulator = simulator;
  }

  /** Sends the request, and looks at what it changes. */
  async watch(request: HttpRequest, send: () => Promise<HttpResponse>): Promise<HttpResponse> {
    const { pathname } = new URL(request.url);
    if (request.method === 'GET' || CHANGES_NOTHING.test(pathname)) return send();
    const before = this.#picture();
    const response = await send();
    const after = this.#picture();
    const isSame = after.length === before.length && after.every((part, at) => part === before[at]);
    if (isSame && response.status < 300) this.#found.push(`${request.method} ${pathname}`);
    return response;
  }

  /** What no fault explains: one repetition follows from each. Undefined: nothing. */
  problem(strikes: readonly Strike[], reads: readonly ReadStrike[] = []): string | undefined {
    const explained = strikes.reduce((sum, { fault }) => sum + (UNWRITTEN.has(fault) ? TRIES : 1), reads.length);
    if (this.#found.length <= explained) return undefined;
    return `There was no need for the last of ${this.#found.length} requests that changed nothing: ${this.#found.join(', ')}`;
  }

  /** All that requests can change, apart from what time does. */
  #picture(): readonly unknown[] {
    return [...this.#simulator.clusters()].flatMap((cluster) => {
      this.#simulator.settle(cluster);
      return partsOf(cluster);
    });
  }
}

function partsOf(cluster: Cluster): readonly unknown[] {
  const { id, createdAt, status, storageSizeGB, machineType, backup, database } = cluster;
  return [
    ...[id, createdAt, status, storageSizeGB, machineType, JSON.stringify(backup)],
    ...[...database.users.values()].flatMap(({ username, passwordHash }) => [username, passwordHash]),
    ...[...database.databases.values()].flatMap(({ name, committed }) => [name, committed]),
  ];
}
