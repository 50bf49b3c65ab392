import { type Clock, sleep } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import type { DialectRules } from '../dialect.ts';
import { afterwards, delayOf, instead, type Outcome, RESET } from '../faults/effects.ts';
import type { Fault, FaultBook, FaultEffect } from '../faults/faults.ts';
import { sentinelFaults } from '../faults/sentinel-faults.ts';
import type { Knobs } from '../knobs.ts';
import { drawMs } from '../seeded-random.ts';
import { type Answer, type Incoming, isWait, json, Refusal, type Reply } from './message.ts';
import { missAnswer, refusalAnswer } from './refusals.ts';
import type { RequestLog } from './request-log.ts';
import { isMiss, type Match, type Miss, type Route, type Router } from './router.ts';
import { malformed } from './shape.ts';
import { type Api, type Subject, subjectOf } from './subject.ts';
import { untilGone, waitFor } from './waiting.ts';

export interface ExchangeContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly dialect: DialectRules;
  readonly faults: FaultBook;
  readonly log: RequestLog;
  knobs(): Knobs;
}

/** One of the two interfaces, as far as handling a request is the same for both. */
export interface Target<R> {
  readonly api: Api;
  readonly router: Router<R>;
  /** The cluster whose server is asked. */
  readonly place: { readonly teamID?: string; readonly spaceID?: string; readonly id?: string };
  respond(match: Match<R>, now: number): Reply;
  /** Ends the token that the request carries. */
  endToken(): void;
  /** Reports whether an answer can still be given after a wait. */
  isReachable(): boolean;
}

export type Exchange = <R extends Route<string>>(
  target: Target<R>,
  request: Incoming,
  signal: AbortSignal | undefined,
) => Promise<Outcome>;

/** A request in progress: what it is about, the faults that strike it, and the work it asks for. */
interface Call {
  readonly context: ExchangeContext;
  readonly target: Pick<Target<never>, 'api' | 'endToken' | 'isReachable'>;
  readonly request: Incoming;
  readonly signal: AbortSignal | undefined;
  readonly subject: Subject;
  readonly struck: readonly Fault[];
  readonly work: () => Reply;
}

/** Handles one request: route, faults before, latency, the work, faults after, one line in the log. */
export function createExchange(context: ExchangeContext): Exchange {
  const struckOnce = new Set<string>();
  return async (target, request, signal) => {
    const [path = '', query] = request.path.split('?', 2);
    const found = route(target.router, request.method, path);
    const { operation, params } =
      found instanceof Refusal || isMiss(found)
        ? { operation: '', params: {} }
        : { operation: found.route.operation, params: found.params };
    const subject = subjectOf(target.api, operation, request, params, target.place);
    const struck = [...context.faults.strike(subject), ...sentinelFaults(subject, struckOnce)];
    const work = (): Reply => {
      if (found instanceof Refusal) throw found;
      if (isMiss(found)) return missAnswer(found, target.api, context.dialect);
      if (query !== undefined) throw malformed('No operation takes a query string');
      return target.respond(found, context.clock.now());
    };
    const outcome = await course({ context, target, request, signal, subject, struck, work });
    context.log.record({
      time: context.clock.now(),
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
}

function route<R>(router: Router<R>, method: string, path: string): Match<R> | Miss | Refusal {
  try {
    return router(method, path);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

async function course(call: Call): Promise<Outcome> {
  const { context, target, signal, subject, struck } = call;
  const { clock, random } = context;
  const latencyMs = drawMs(context.knobs().latencyMs, random) + delaysOf(struck, 'delay');
  if (latencyMs > 0) await sleep(clock, latencyMs, signal);
  if (struck.some(({ effect }) => effect === 'hang')) await untilGone(signal);
  if (signal?.aborted || !target.isReachable()) return RESET;

  if (struck.some(({ effect }) => effect === 'expiredToken')) target.endToken();
  for (const fault of struck) {
    const outcome = instead(fault, subject);
    if (outcome !== undefined) return outcome;
  }
  const answer = await finish(call);
  if (answer === undefined) return RESET;
  const lateMs = delaysOf(struck, 'lateAnswer');
  if (lateMs > 0) await sleep(clock, lateMs, signal);
  for (const fault of struck) {
    const outcome = afterwards(fault, answer);
    if (outcome !== undefined) return outcome;
  }
  return { kind: 'answer', answer };
}

function delaysOf(struck: readonly Fault[], effect: FaultEffect): number {
  return struck.reduce((sum, fault) => (fault.effect === effect ? sum + delayOf(fault) : sum), 0);
}

/** Waits as long as the work needs; undefined if the server or the client has gone. */
async function finish(call: Call): Promise<Answer | undefined> {
  const { clock } = call.context;
  let reply = answered(call, call.work);
  while (isWait(reply)) {
    const { resume } = reply;
    await waitFor(clock, reply, call.signal);
    if (call.signal?.aborted || !call.target.isReachable()) return undefined;
    reply = answered(call, () => resume(clock.now()));
  }
  return reply;
}

function answered({ context, target, request }: Call, work: () => Reply): Reply {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Refusal)) return json(500, { code: 'unexpected', message: messageOf(error) });
    const { dialect, random } = context;
    const { echoSecrets } = context.knobs();
    return refusalAnswer(error, request, { api: target.api, dialect, random, echoSecrets });
  }
}
