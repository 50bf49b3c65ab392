import { type Clock, sleep } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import type { DialectRules } from './dialect.ts';
import { afterwards, delayOf, instead, type Outcome, sentinelFaults } from './effects.ts';
import type { Fault, FaultBook } from './faults.ts';
import type { Knobs } from './knobs.ts';
import { type Answer, type Incoming, isWait, json, Refusal, type Reply, type Wait } from './message.ts';
import { missAnswer, refusalAnswer } from './refusals.ts';
import type { RequestLog } from './request-log.ts';
import { isMiss, type Match, type Route, type Router } from './router.ts';
import { drawMs } from './seeded-random.ts';
import { malformed } from './shape.ts';
import { type Api, type Subject, subjectOf } from './subject.ts';

export interface ExchangeContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly dialect: DialectRules;
  readonly faults: FaultBook;
  readonly log: RequestLog;
  knobs(): Knobs;
}

/** One of the two interfaces, as far as the course of a request is the same for both. */
export interface Target<R> {
  readonly api: Api;
  readonly router: Router<R>;
  /** The cluster whose server is asked. */
  readonly place: { readonly teamID?: string; readonly spaceID?: string; readonly id?: string };
  respond(match: Match<R>, now: number): Reply;
  /** Ends the token that the request carries. */
  endToken(): void;
  /** Whether an answer can still be given after a wait. */
  isReachable(): boolean;
}

const RESET: Outcome = { kind: 'reset' };

export type Exchange = <R extends Route<string>>(
  target: Target<R>,
  request: Incoming,
  signal: AbortSignal | undefined,
) => Promise<Outcome>;

/** The course of one request: route, faults before, latency, the work, faults after, one line in the log. */
export function createExchange(context: ExchangeContext): Exchange {
  const { clock, random, faults, log } = context;
  const struckOnce = new Set<string>();

  return async (target, request, signal) => {
    const [path = '', query] = request.path.split('?', 2);
    const found = attempt(() => target.router(request.method, path));
    const operation = found instanceof Refusal || isMiss(found) ? '' : found.route.operation;
    const params = found instanceof Refusal || isMiss(found) ? {} : found.params;
    const subject = subjectOf(target.api, operation, request, params, target.place);
    const struck = [...faults.strike(subject), ...sentinelFaults(subject, struckOnce)];

    const work = (): Reply => {
      if (found instanceof Refusal) throw found;
      if (isMiss(found)) return missAnswer(found, target.api, context.dialect);
      if (query !== undefined) throw malformed('No operation takes a query string');
      return target.respond(found, clock.now());
    };
    const outcome = await course(target, request, subject, struck, work, signal);
    log.record({
      time: clock.now(),
      api: target.api,
      operation,
      method: request.method,
      path,
      clusterID: subject.newClusterID ?? subject.clusterID,
      status: outcome.kind === 'answer' ? outcome.answer.status : 0,
      faults: struck.map((fault) => fault.effect),
    });
    return outcome;
  };

  async function course<R>(
    target: Target<R>,
    request: Incoming,
    subject: Subject,
    struck: readonly Fault[],
    work: () => Reply,
    signal: AbortSignal | undefined,
  ): Promise<Outcome> {
    const before = struck.filter((fault) => fault.effect === 'delay').reduce((sum, fault) => sum + delayOf(fault), 0);
    const latencyMs = drawMs(context.knobs().latencyMs, random) + before;
    if (latencyMs > 0) await sleep(clock, latencyMs, signal);
    if (struck.some((fault) => fault.effect === 'hang')) await aborted(signal);
    if (signal?.aborted) return RESET;
    if (struck.some((fault) => fault.effect === 'expiredToken')) target.endToken();
    for (const fault of struck) {
      const outcome = instead(fault, subject);
      if (outcome !== undefined) return outcome;
    }
    const answer = await finish(target, request, work, signal);
    if (answer === undefined) return RESET;
    const late = struck
      .filter((fault) => fault.effect === 'lateAnswer')
      .reduce((sum, fault) => sum + delayOf(fault), 0);
    if (late > 0) await sleep(clock, late, signal);
    const after = struck.find((fault) => fault.effect !== 'delay');
    return after === undefined ? { kind: 'answer', answer } : afterwards(after, answer);
  }

  /** Waits as long as the work wants to; undefined when nobody is there any more to answer, or to be answered. */
  async function finish<R>(
    target: Target<R>,
    request: Incoming,
    work: () => Reply,
    signal: AbortSignal | undefined,
  ): Promise<Answer | undefined> {
    let reply = answered(target, request, work);
    while (isWait(reply)) {
      const { resume } = reply;
      await waitFor(reply, signal);
      if (signal?.aborted || !target.isReachable()) return undefined;
      reply = answered(target, request, () => resume(clock.now()));
    }
    return reply;
  }

  function answered<R>(target: Target<R>, request: Incoming, work: () => Reply): Reply {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Refusal)) return json(500, { code: 'unexpected', message: messageOf(error) });
      const { echoSecrets } = context.knobs();
      return refusalAnswer(error, request, { api: target.api, dialect: context.dialect, random, echoSecrets });
    }
  }

  function waitFor(wait: Wait, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        unwatch?.();
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const cancel = clock.after(Math.max(0, wait.untilMs - clock.now()), done);
      const unwatch = wait.wake?.(done);
      signal?.addEventListener('abort', done);
    });
  }
}

/** Without a signal a request that hangs hangs for ever, as it should. */
function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) resolve();
    signal?.addEventListener('abort', () => resolve());
  });
}

function attempt<T>(run: () => T): T | Refusal {
  try {
    return run();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}
