import { messageOf, TerminalError, TransientError } from '../base/errors.ts';
import { HttpError } from '../base/transport.ts';
import { ApiError, isHeldBack } from '../http/api-error.ts';
import { ABANDON, LET_GO } from './annotations.ts';
import { isBusy, isConflict, isForbidden, isNamespaceTerminating, KubeError } from './api.ts';
import { type Condition, shorten, toldBefore } from './condition.ts';
import type { ObjectMeta } from './object.ts';
import { withRemedy } from './remedies.ts';

/** How admission refuses what the caller has the right to: quotas, policies, webhooks, a namespace that ends. Authorizers name the user. */
const BY_ADMISSION = /admission webhook|is forbidden: (?!User ")/;

/** The last error as every status keeps it, beside its conditions. */
export interface LastError {
  readonly operation: string;
  readonly httpStatus?: number | undefined;
  readonly code?: string | undefined;
  readonly message: string;
  readonly time: string;
}

/** What an error means to the object that it happened to. */
export interface Failure {
  /** `conflict`: it changed meanwhile, nothing to report. `transient`: it may pass with time. `terminal`: a person must fix it. */
  readonly lasting: 'conflict' | 'transient' | 'terminal';
  readonly reason: string;
  readonly message: string;
  readonly retryAfterMs: number | undefined;
  /** No call failed: a pass itself said that it has to look again. */
  readonly planned: boolean;
  /** A call was tried, and the other side failed to do what it usually does: it may do so next time. */
  readonly mayPass: boolean;
  /** The call was held back (`isHeldBack`), since this moment if known, so it says nothing new. Undefined: it was tried. */
  readonly heldBack: { readonly sinceMs: number | undefined } | undefined;
  readonly details: Omit<LastError, 'time'>;
}

/** The operation that failed, if it was none of an API's. */
export const PASS = 'Reconcile';

/** For failures of anything but a call to the cloud or to a server. */
const NO_CALL = { planned: false, heldBack: undefined } as const;

export function failureOf(error: unknown): Failure {
  const message = messageOf(error);
  if (error instanceof TerminalError || error instanceof TransientError) {
    const cause = error.cause instanceof ApiError ? failureOf(error.cause).details : { operation: PASS };
    return {
      lasting: error instanceof TerminalError ? 'terminal' : 'transient',
      reason: error.reason,
      message,
      retryAfterMs: error instanceof TransientError ? error.retryAfterMs : undefined,
      planned: error instanceof TransientError && !(error.cause instanceof ApiError),
      mayPass: error instanceof TransientError && mayPass(error.cause),
      heldBack: heldBack(error.cause),
      details: { ...cause, message },
    };
  }
  if (error instanceof ApiError) return apiFailure(error);
  const details = { operation: PASS, message };
  if (error instanceof KubeError) {
    const lacksRight = isForbidden(error) && !BY_ADMISSION.test(error.message);
    return {
      lasting: isConflict(error) ? 'conflict' : 'transient',
      reason: lacksRight ? 'KubernetesForbidden' : 'KubernetesError',
      message: `${message}${isForbidden(error) ? whatForbids(error, lacksRight) : ''}`,
      retryAfterMs: error.retryAfterMs,
      mayPass: isBusy(error),
      ...NO_CALL,
      details: { ...details, httpStatus: error.status, ...(error.reason === '' ? {} : { code: error.reason }) },
    };
  }
  const isUnreachable = error instanceof HttpError;
  return {
    lasting: 'transient',
    reason: isUnreachable ? 'KubernetesUnreachable' : 'InternalError',
    message,
    retryAfterMs: undefined,
    mayPass: isUnreachable,
    ...NO_CALL,
    details,
  };
}

/** What a person can do. Nothing helps against the end of a namespace. */
function whatForbids(error: KubeError, lacksRight: boolean): string {
  if (lacksRight) return '. If a right is missing, the chart and deploy/ of this version grant it';
  if (isNamespaceTerminating(error)) return '';
  return '. A quota, an admission policy or a webhook does not allow it: have that changed, or what it counts or names. Mooring tries again';
}

function heldBack(error: unknown): Failure['heldBack'] {
  return isHeldBack(error) ? { sinceMs: error.heldSinceMs } : undefined;
}

const PASSING: ReadonlySet<ApiError['kind']> = new Set(['unreachable', 'lost', 'unavailable', 'throttled']);

function mayPass(error: unknown): boolean {
  return error instanceof ApiError && PASSING.has(error.kind) && !isHeldBack(error);
}

/** Returns the failure of an ApiError. Its reason, and whether it may pass, depend on status and operation only: codes are not stable. */
function apiFailure(error: ApiError): Failure {
  const where = error.api === 'cloud' ? 'Cloud' : 'Server';
  const [lasting, reason] = ((): ['transient' | 'terminal', string] => {
    switch (error.kind) {
      case 'unreachable':
      case 'lost':
      case 'unavailable':
      case 'aborted':
        return ['transient', `${where}Unreachable`];
      case 'throttled':
        return ['transient', `${where}Throttled`];
      case 'badAnswer':
        return ['transient', `${where}AnswerUnusable`];
      case 'notFound':
        return ['transient', 'NotFound'];
      case 'unauthorized':
        return ['terminal', 'CredentialsInvalid'];
      case 'forbidden':
        return ['terminal', 'AccessDenied'];
      case 'conflict':
      case 'invalid':
        return ['terminal', `RefusedBy${where}`];
      default:
        return error.kind satisfies never;
    }
  })();
  return {
    lasting,
    reason,
    message: withRemedy(error),
    retryAfterMs: error.retryAfterMs,
    planned: false,
    mayPass: mayPass(error),
    heldBack: heldBack(error),
    details: {
      operation: error.operation,
      message: error.message,
      ...(error.status === undefined ? {} : { httpStatus: error.status }),
      ...(error.code === undefined ? {} : { code: error.code }),
    },
  };
}

/** A failure found up to this long before all calls began to fail was the outage's beginning: some were still answered. */
const SAME_OUTAGE_MS = 60_000;

/** What a status says about failures. */
interface ToldBefore {
  readonly conditions?: readonly Condition[] | undefined;
  readonly lastError?: LastError | undefined;
}

/**
 * Returns the failure to report. A call that was held back has nothing new to say: the failure found in the same outage, which
 * `conditions` and `lastError` show, stands. If the cause changes meanwhile, the next call that is tried shows it.
 */
export function asTold({ conditions, lastError: known }: ToldBefore, failure: Failure, generation: number): Failure {
  const message = toldBefore(conditions, { type: 'Ready', reason: failure.reason, generation });
  if (failure.heldBack === undefined || known === undefined || message === undefined) return failure;
  const isOfThisOutage = Date.parse(known.time) >= (failure.heldBack.sinceMs ?? 0) - SAME_OUTAGE_MS;
  return isOfThisOutage ? { ...failure, message, details: known } : failure;
}

/**
 * For an object that is being deleted: also says how to let the object go, if a person must act or the other side may have gone for good,
 * as nothing else may be wanted any more.
 */
export function asLeaving(
  { deletionTimestamp }: Pick<ObjectMeta, 'deletionTimestamp'>,
  failure: Failure | undefined,
): Failure | undefined {
  if (deletionTimestamp === undefined || failure === undefined || !mayLast(failure)) return failure;
  return failure.message.includes(ABANDON) ? failure : { ...failure, message: `${failure.message}. ${LET_GO}` };
}

/** What a pass itself waits for, and a pause that the other side asked for, end. Without Kubernetes nobody can let the object go either. */
function mayLast({ lasting, planned, reason }: Failure): boolean {
  if (lasting !== 'transient') return lasting === 'terminal';
  return !planned && !/^Kubernetes|Throttled$/.test(reason);
}

/** Returns what the status should say about the last failure: null for none, undefined for no change. A later time alone is not news. */
export function lastErrorOf(known: LastError | undefined, failure: Failure | undefined, nowMs: number) {
  if (failure === undefined) return null;
  const details = { ...failure.details, message: shorten(failure.details.message) };
  const same =
    known?.operation === details.operation &&
    known.httpStatus === details.httpStatus &&
    known.message === details.message;
  return same ? undefined : { ...details, time: new Date(nowMs).toISOString() };
}

/** The API server accepted the finalizer, but its answer lacks it. */
export function finalizerRefused(finalizer: string): TransientError {
  return new TransientError(
    'FinalizerRefused',
    `Finalizer "${finalizer}" was written, but is missing: something in this cluster, such as an admission webhook, removes it. ` +
      'Nothing is done until it stays: make that leave it alone',
  );
}
