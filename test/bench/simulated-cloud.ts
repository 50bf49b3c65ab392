import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Counters, LoggedRequest } from '../../src/simulator/exchange/request-log.ts';
import { parseState, type SavedState } from '../../src/simulator/saved-state.ts';
import { Child, jsonLine, script } from './child.ts';
import { JOURNAL_PATH, type JournalEntry } from './limited-cloud.ts';

/** Below the ports that systems assign by themselves, with room for ten thousand servers in a row. */
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

export interface CloudOptions {
  readonly provisionTime: string;
  /** The delay of each answer of the management API and of servers, such as 50ms. Default: none. */
  readonly latency?: string;
  /** The ids of the spaces. */
  readonly spaces: readonly string[];
  /** The limit of the management API for all spaces together; further requests get 429. Default: none. */
  readonly requestsPerSecond?: number;
  /** A folder for the state that it keeps over a restart. */
  readonly folder: string;
}

interface CloudSettings extends CloudOptions {
  readonly port: number;
}

const stateFile = ({ folder }: CloudSettings) => join(folder, 'cloud.json');

async function startChild(settings: CloudSettings, signal: AbortSignal): Promise<Child> {
  const { port, provisionTime, latency = '0ms', spaces, requestsPerSecond } = settings;
  const args = [String(port), stateFile(settings), spaces.join(','), provisionTime, latency];
  if (requestsPerSecond !== undefined) args.push(String(requestsPerSecond));
  const ready = (line: string) => (jsonLine(line) === undefined ? undefined : true);
  return (await Child.start(script('test/bench/cloud.ts', args), ready, signal)).child;
}

/** The number of requests for each operation. */
export interface CloudCalls {
  readonly cloud: ReadonlyMap<string, number>;
  readonly server: ReadonlyMap<string, number>;
}

/** The simulated cloud in its own process, with its counters. */
export class SimulatedCloud {
  readonly baseURL: string;
  readonly #settings: CloudSettings;
  #child: Child;

  private constructor(child: Child, settings: CloudSettings) {
    this.#child = child;
    this.#settings = settings;
    this.baseURL = `http://127.0.0.1:${settings.port}`;
  }

  /** `folder`: for its state. */
  static async start(options: CloudOptions, signal: AbortSignal): Promise<SimulatedCloud> {
    for (let attempt = 1; ; attempt++) {
      const settings = { ...options, port: randomInt(FIRST_PORTS.from, FIRST_PORTS.to) };
      try {
        return new SimulatedCloud(await startChild(settings, signal), settings);
      } catch (error) {
        if (attempt === PORT_ATTEMPTS || signal.aborted || !String(error).includes('EADDRINUSE')) throw error;
      }
    }
  }

  end(): Promise<void> {
    return this.#child.end('SIGKILL');
  }

  /** Restarts it at the same address, with its state changed by `change`. */
  async restart(change: (state: SavedState) => SavedState, signal: AbortSignal): Promise<void> {
    const file = stateFile(this.#settings);
    await this.#child.end('SIGTERM');
    writeFileSync(file, JSON.stringify(change(parseState(readFileSync(file, 'utf8')))));
    this.#child = await startChild(this.#settings, signal);
  }

  async setProvisionTime(time: string): Promise<void> {
    await this.#ask('knobs', { method: 'PATCH', body: JSON.stringify({ provisionMs: time }) });
  }

  /** Adds a fault. Resolves to a function that removes it. */
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

  /** All requests to the management API since it was started. */
  async journal(): Promise<readonly JournalEntry[]> {
    return (await this.#get(JOURNAL_PATH)) as readonly JournalEntry[];
  }

  /** When the first request of this kind about the cluster was answered, in wall-clock milliseconds. Looks at the last 500 requests. */
  async firstRequest(operation: string, clusterID: string): Promise<number> {
    const requests = (await this.#ask('requests')) as readonly LoggedRequest[];
    const found = requests.find((request) => request.operation === operation && request.clusterID === clusterID);
    if (found === undefined) throw new Error(`The cloud was never asked for ${operation} of ${clusterID}`);
    return found.time;
  }

  #ask(path: string, init: RequestInit = {}): Promise<unknown> {
    return this.#get(`/_simulator/${path}`, init);
  }

  async #get(path: string, init: RequestInit = {}): Promise<unknown> {
    this.#child.mustRun();
    const response = await fetch(`${this.baseURL}${path}`, {
      ...init,
      headers: { 'content-type': 'application/json' },
    });
    if (!response.ok) throw new Error(`The simulator answered ${response.status} to ${path}`);
    const text = await response.text();
    return text === '' ? undefined : JSON.parse(text);
  }
}
