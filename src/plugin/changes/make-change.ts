import { type Clock, sleep } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { HttpError } from '../../base/transport.ts';
import type { KubeApi } from '../../kube/api.ts';
import type { ResourceDefinition } from '../../kube/definition.ts';
import { INTERRUPTED, TIMED_OUT } from '../command-line/exit-code.ts';
import { loadChain, notThereText } from '../inventory.ts';
import { type Item, isOutOfDate, itemOf } from '../item.ts';
import { commandFor, resourceOf } from '../kinds.ts';
import { operatorWatch } from '../operator-sign.ts';
import { isPassing } from '../watch.ts';
import { type Change, failureOf, progressOf } from './change.ts';
import { obstacleOf } from './obstacle.ts';

export interface ChangeRequest {
  /** The command's name. */
  readonly name: string;
  readonly change: Change;
  readonly definition: ResourceDefinition;
  readonly ref: { readonly namespace: string; readonly name: string };
  /** Whether to wait for the outcome; timeoutMs says how long. */
  readonly wait: boolean;
  readonly timeoutMs: number;
}

export interface ChangeTools {
  readonly api: KubeApi;
  readonly clock: Clock;
  /** From `reachOf`, for commands that are printed. */
  readonly reach: string;
  /** Aborting ends the wait; what was set stays. */
  readonly signal: AbortSignal;
  /** Called with each line of progress. */
  readonly tell: (line: string) => void;
}

/** How it ended: the exit code (0 well, 1 failed, TIMED_OUT, INTERRUPTED), and what to say. */
export interface ChangeEnd {
  readonly code: number;
  readonly text: string;
}

const LOOK_MS = 500;
/** A busy operator may be as late as this. */
const IDLE_MS = 20_000;

/**
 * Makes the change, unless it could have no effect, and waits for the outcome. Throws KubeError or HttpError if nothing was
 * set.
 */
export async function makeChange(request: ChangeRequest, tools: ChangeTools): Promise<ChangeEnd> {
  const { clock, signal } = tools;
  const overdue = new AbortController();
  const cancel = request.wait ? clock.after(request.timeoutMs, () => overdue.abort()) : () => {};
  try {
    return await setAndWait(request, { ...tools, over: AbortSignal.any([signal, overdue.signal]) });
  } catch (error) {
    if (signal.aborted) return { code: INTERRUPTED, text: 'Interrupted: nothing was set' };
    if (!(error instanceof HttpError) || !overdue.signal.aborted) throw error;
    return { code: TIMED_OUT, text: `Nothing was set: the API server did not answer in ${request.timeoutMs / 1000} s` };
  } finally {
    cancel();
  }
}

/** `over`: aborts with `signal`, or once time is up. */
type Tools = ChangeTools & { readonly over: AbortSignal };

async function setAndWait(request: ChangeRequest, tools: Tools): Promise<ChangeEnd> {
  const { name, change, definition, ref } = request;
  const { api, clock, signal, over, reach } = tools;
  const found = await loadChain(api, definition, ref, over);
  if (found === undefined) return { code: 1, text: await notThereText(api, definition, ref, over, reach) };
  const obstacle = obstacleOf(name, { ...found.inventory, reach }, found.item);
  if (obstacle !== undefined) return { code: 1, text: `Nothing was set. ${obstacle}` };
  const value = new Date(clock.now()).toISOString();
  const status = commandFor('status', found.item, tools);
  let set: Item;
  try {
    set = itemOf(definition, await api.patch(resourceOf(definition), ref, change.patch(value), undefined, over));
  } catch (error) {
    if (!(error instanceof HttpError) || error.kind === 'unreachable') throw error;
    const text = `It is not known whether this was set, as the API server did not answer: ${change.sets}. Look with: ${status}`;
    return { code: signal.aborted ? INTERRUPTED : over.aborted ? TIMED_OUT : 1, text };
  }
  const operator = operatorWatch({ api, clock, signal: over });
  if (!request.wait) return withSign({ code: 0, text: `Set: ${change.sets}. Look with: ${status}` }, await operator());
  const { isIdle = false, ...end } = await wait(request, tools, { value, before: set }, operator);
  // A change that only sets something is done even if no operator looks.
  if (end.code === 0) return withSign(end, change.isOnlySet === true ? await operator() : undefined);
  return {
    ...end,
    text: `${end.text}\nWhat was set stays (${change.sets}), and Mooring ${isIdle ? 'acts on it once it runs and watches this namespace' : 'goes on with it'}. Look with: ${status}`,
  };
}

/** Says that no operator seems to be running. */
type OperatorSign = ReturnType<typeof operatorWatch>;

function withSign(end: ChangeEnd, sign: string | undefined): ChangeEnd {
  return sign === undefined ? end : { ...end, text: `${end.text}\n${sign}` };
}

/** The value that was set, and the object as it was then. */
interface Set {
  readonly value: string;
  readonly before: Item;
}

/** `isIdle`: the operator was not seen to begin. */
type Waited = ChangeEnd & { readonly isIdle?: boolean };

async function wait(request: ChangeRequest, tools: Tools, set: Set, operator: OperatorSign): Promise<Waited> {
  const { clock, signal, over } = tools;
  /** By the monotonic clock; undefined: the operator is at work. */
  let idleSince: number | undefined;
  let told = '';
  const tell = (what: string, idle = false, sign?: string) => {
    idleSince = idle ? (idleSince ?? clock.monotonic()) : undefined;
    const isLong = idleSince !== undefined && clock.monotonic() - idleSince >= IDLE_MS;
    const line = [what, sign ?? (isLong ? IDLE : undefined)].filter((part) => part !== undefined).join('. ');
    if (line !== told) tools.tell(line);
    told = line;
  };
  for (;;) {
    const end = await look(tools, request, set, { tell, operator });
    if (end !== undefined) return end;
    await sleep(clock, LOOK_MS, over);
    if (signal.aborted)
      return { code: INTERRUPTED, text: 'The wait was interrupted.', isIdle: idleSince !== undefined };
    if (over.aborted)
      return {
        code: TIMED_OUT,
        text: `Not done in ${request.timeoutMs / 1000} s. ${told === '' ? 'No progress was seen in that time.' : `Last progress: ${told}`}`,
        isIdle: idleSince !== undefined,
      };
  }
}

const IDLE = `No progress was seen for ${IDLE_MS / 1000} s: is the operator running, and does it watch this namespace?`;

interface Looking {
  readonly tell: (what: string, idle?: boolean, sign?: string) => void;
  readonly operator: OperatorSign;
}

/** Undefined: not done yet. */
async function look(
  { api, clock, over, reach }: Tools,
  { name, change, definition, ref }: ChangeRequest,
  { value, before }: Set,
  { tell, operator }: Looking,
): Promise<ChangeEnd | undefined> {
  let found: Awaited<ReturnType<typeof loadChain>>;
  try {
    found = await loadChain(api, definition, ref, over);
  } catch (error) {
    if (over.aborted) return undefined;
    if (!isPassing(error)) return { code: 1, text: messageOf(error) };
    tell(`The API server does not answer, and is tried again: ${messageOf(error)}`);
    return undefined;
  }
  if (found === undefined || found.item.metadata.uid !== before.metadata.uid)
    return { code: 1, text: 'The object is gone.' };
  const { item } = found;
  const inventory = { ...found.inventory, reach };
  const outcome = change.outcome(item, value, before);
  if (outcome !== undefined) return { code: 0, text: outcome };
  // A stalled object can still have its password replaced, unless the obstacle says otherwise.
  const failure = obstacleOf(name, inventory, item) ?? (name === 'rotate' ? undefined : failureOf(item));
  if (failure !== undefined) return { code: 1, text: failure };
  // It is only a hint, and the outcome may be there before it.
  const sign = await Promise.race([operator(), sleep(clock, LOOK_MS, over).then(() => undefined)]);
  const line = change.progress?.(item, value) ?? progressOf(inventory, item);
  const idle = isOutOfDate(item) || change.isIdle?.(item, value) === true;
  tell(line, idle, sign);
  return undefined;
}
