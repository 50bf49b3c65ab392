import { type Answer, json } from '../exchange/message.ts';
import type { Subject } from '../exchange/subject.ts';
import type { Fault } from './faults.ts';

/** How a request ends for its sender. */
export type Outcome =
  | { readonly kind: 'answer'; readonly answer: Answer; readonly breaksHalfway?: boolean }
  /** The connection broke; the client cannot tell whether any work was done. */
  | { readonly kind: 'reset' }
  /** The connection was refused: no work was done, and the client can tell. */
  | { readonly kind: 'refused' };

export const RESET: Outcome = { kind: 'reset' };
const DEFAULT_DELAY_MS = 1_000;

export const delayOf = (fault: Fault): number => fault.delayMs ?? DEFAULT_DELAY_MS;

/** What a fault does instead of the work; undefined: the work is done. */
export function instead(fault: Fault, subject: Subject): Outcome | undefined {
  switch (fault.effect) {
    case 'errorBefore':
      return answered(failure(fault.status ?? 500, 'Simulated failure'), retryAfter(fault));
    case '5xx':
      return answered(failure(fault.status ?? 503, 'Simulated unavailability'), retryAfter(fault));
    case '429':
      return answered(failure(429, 'Simulated rate limit'), retryAfter({ retryAfterSeconds: 1, ...fault }));
    case 'html':
      return answered({
        status: fault.status ?? 502,
        headers: { 'content-type': 'text/html' },
        body: '<html><body><h1>502 Bad Gateway</h1></body></html>',
      });
    case 'reset':
      return RESET;
    case 'outage':
      return subject.api === 'server' ? { kind: 'refused' } : RESET;
    default:
      return undefined;
  }
}

/** What a fault makes of the answer after the work was done; undefined: nothing. */
export function afterwards(fault: Fault, answer: Answer): Outcome | undefined {
  switch (fault.effect) {
    case 'lostAnswer':
      return RESET;
    case 'errorAfter':
      return answered(failure(fault.status ?? 500, 'Simulated failure'), retryAfter(fault));
    case 'truncated':
      return { kind: 'answer', answer: { ...answer, body: answer.body.slice(0, Math.floor(answer.body.length / 2)) } };
    case 'brokenBody':
      return { kind: 'answer', answer, breaksHalfway: true };
    default:
      return undefined;
  }
}

function answered(answer: Answer, headers: Readonly<Record<string, string>> = {}): Outcome {
  return { kind: 'answer', answer: { ...answer, headers: { ...answer.headers, ...headers } } };
}

const failure = (status: number, message: string) => json(status, { code: 'simulatedFault', message });

function retryAfter({ retryAfterSeconds }: Pick<Fault, 'retryAfterSeconds'>): Record<string, string> {
  return retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
}
