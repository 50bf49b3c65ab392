import { randomInt } from 'node:crypto';
import type { Counters, LoggedRequest } from '../../src/simulator/request-log.ts';
import { Child, jsonLine } from './child.ts';

/** Below the ports that systems hand out by themselves, so that ten thousand servers find room one after the other. */
const FIRST_PORTS = { from: 11_000, to: 22_000 };
const PORT_ATTEMPTS = 5;

const CLOUD_OPERATIONS: ReadonlySet<string> = new Set([
  'exchangeToken',
  'deploy',
  'get',
  'list',
  'update',
  'suspend',
  'resume',
  'clone',
  'destroy',
  'listVersions',
]);

/** How often each operation was asked for. */
export interface CloudCalls {
  readonly cloud: ReadonlyMap<string, number>;
  readonly server: ReadonlyMap<string, number>;
}

/** The simulated cloud in its own process, and what it has counted. */
export class SimulatedCloud {
  readonly baseURL: string;
  readonly #child: Child;

  private constructor(child: Child, baseURL: string) {
    this.#child = child;
    this.baseURL = baseURL;
  }

  static async start(provisionTime: string, signal: AbortSignal): Promise<SimulatedCloud> {
    for (let attempt = 1; ; attempt++) {
      const port = randomInt(FIRST_PORTS.from, FIRST_PORTS.to);
      const args = [`--port=${port}`, '--output=json', '--seed=1', `--provision-time=${provisionTime}`];
      const ready = (line: string) => {
        const baseURL = jsonLine(line)?.['baseURL'];
        return typeof baseURL === 'string' ? baseURL : undefined;
      };
      try {
        const { child, value } = await Child.start(['simulate', ...args], ready, signal);
        return new SimulatedCloud(child, value);
      } catch (error) {
        if (attempt === PORT_ATTEMPTS || signal.aborted || !String(error).includes('EADDRINUSE')) throw error;
      }
    }
  }

  end(): Promise<void> {
    return this.#child.end('SIGKILL');
  }

  async setProvisionTime(time: string): Promise<void> {
    await this.#ask('knobs', { method: 'PATCH', body: JSON.stringify({ provisionMs: time }) });
  }

  /** From now on requests that match fare badly; resolves to what ends that. */
  async addFault(fault: Readonly<Record<string, unknown>>): Promise<() => Promise<void>> {
    await this.#ask('faults', { method: 'POST', body: JSON.stringify(fault) });
    return async () => {
      await this.#ask('faults', { method: 'DELETE' });
    };
  }

  async calls(): Promise<CloudCalls> {
    const { byOperation } = (await this.#ask('counters')) as Counters;
    const entries = Object.entries(byOperation);
    return {
      cloud: new Map(entries.filter(([operation]) => CLOUD_OPERATIONS.has(operation))),
      server: new Map(entries.filter(([operation]) => !CLOUD_OPERATIONS.has(operation))),
    };
  }

  /** When the first request of this kind about the cluster was answered, in wall-clock milliseconds, by the last 500. */
  async firstRequest(operation: string, clusterID: string): Promise<number> {
    const requests = (await this.#ask('requests')) as readonly LoggedRequest[];
    const found = requests.find((request) => request.operation === operation && request.clusterID === clusterID);
    if (found === undefined) throw new Error(`The cloud was never asked for ${operation} of ${clusterID}`);
    return found.time;
  }

  async #ask(path: string, init: RequestInit = {}): Promise<unknown> {
    this.#child.mustRun();
    const response = await fetch(`${this.baseURL}/_simulator/${path}`, {
      ...init,
      headers: { 'content-type': 'application/json' },
    });
    if (!response.ok) throw new Error(`The simulator answered ${response.status} to ${path}`);
    const text = await response.text();
    return text === '' ? undefined : JSON.parse(text);
  }
}
