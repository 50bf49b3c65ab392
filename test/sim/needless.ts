import type { HttpRequest, HttpResponse } from '../../src/base/transport.ts';
import type { Cluster } from '../../src/simulator/cloud/state.ts';
import type { Simulator } from '../../src/simulator/interface.ts';
import type { Fault } from './faults.ts';
import type { Strike } from './plan.ts';
import type { ReadStrike } from './reads.ts';

/** Requests for a token, and those of a transaction except its commit. */
const CHANGES_NOTHING = /\/(?:auth|signin|transactions\/open|transactions\/[^/]+\/(?:query|close))$/;
/** While these last, the operator cannot write down what it did, and so repeats it at each try. */
const UNWRITTEN: ReadonlySet<Fault> = new Set<Fault>(['apiOutage', 'flaky', 'partition']);
/** How many tries such a time explains: more than were ever seen. */
const TRIES = 15;

/** Finds requests that should have changed something in the cloud or on a server, succeeded, and changed nothing. */
export class NeedlessRequests {
  readonly #simulator: Simulator;
  readonly #found: string[] = [];

  constructor(simulator: Simulator) {
    this.#simulator = simulator;
  }

  /** Sends the request, and notes whether it changes anything. */
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

  /** Describes repetitions that no fault explains, if any: each fault explains one. */
  problem(strikes: readonly Strike[], reads: readonly ReadStrike[] = []): string | undefined {
    const explained = strikes.reduce((sum, { fault }) => sum + (UNWRITTEN.has(fault) ? TRIES : 1), reads.length);
    if (this.#found.length <= explained) return undefined;
    return `There was no need for the last of ${this.#found.length} requests that changed nothing: ${this.#found.join(', ')}`;
  }

  /** Everything that requests can change, without what time changes. */
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
