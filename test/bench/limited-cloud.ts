import { type Incoming, json } from '../../src/simulator/exchange/message.ts';
import type { Simulator } from '../../src/simulator/interface.ts';
import { RateLimit } from './rate-limit.ts';

/** One request to the management API, as the cloud saw it. */
export interface JournalEntry {
  /** When it arrived, by the wall clock in milliseconds. */
  readonly at: number;
  readonly method: string;
  /** '' if the path names none. */
  readonly space: string;
  /** The id of the cluster that it concerns; '' for none. */
  readonly cluster: string;
  /** Whether the request deploys the cluster. */
  readonly deploys: boolean;
  /** The status code; 0 without an answer. */
  readonly status: number;
}

export const JOURNAL_PATH = '/_bench/journal';
const LIMITED = /^\/api\//;

/** The simulator with a journal of requests to its management API, and a common limit for all spaces. */
export function limitedCloud(simulator: Simulator, requestsPerSecond: number | undefined): Simulator {
  const { clock } = simulator;
  const limit = requestsPerSecond === undefined ? undefined : new RateLimit(requestsPerSecond, clock.now());
  const cloudAuthority = new URL(simulator.baseURL).host;
  const journal: JournalEntry[] = [];
  const answered = async (request: Incoming, signal: AbortSignal | undefined) => {
    const seconds = limit?.refuse(clock.now());
    if (seconds === undefined) return simulator.handle(request, signal);
    const answer = json(429, { code: 'tooManyRequests', message: 'Too many requests' });
    const headers = { ...answer.headers, 'retry-after': String(seconds) };
    return { kind: 'answer', answer: { ...answer, headers } } as const;
  };
  return {
    ...simulator,
    handle: async (request, signal) => {
      if (request.authority !== cloudAuthority) return simulator.handle(request, signal);
      if (request.path === JOURNAL_PATH) return { kind: 'answer', answer: json(200, journal) };
      if (!LIMITED.test(request.path)) return simulator.handle(request, signal);
      const at = clock.now();
      const outcome = await answered(request, signal);
      const status = outcome.kind === 'answer' ? outcome.answer.status : 0;
      journal.push({ at, ...subjectOf(request), status });
      return outcome;
    },
  };
}

const SPACE = /\/spaces\/([^/]+)\/clusters(?:\/([^/]+))?/;

function subjectOf({ method, path, body }: Incoming): Omit<JournalEntry, 'at' | 'status'> {
  const [, space = '', named = ''] = SPACE.exec(path) ?? [];
  const deploys = method === 'POST' && named === 'deploy';
  return { method, space, cluster: deploys ? String(JSON.parse(body).id) : named, deploys };
}
