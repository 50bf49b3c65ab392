import { oneLine } from '../base/printable.ts';
import { REDACT_WINDOW, redactor } from './redact.ts';

/**
 * What became of a call:
 * - `unreachable`: surely not sent. `lost`: sent, no whole answer, may have taken effect. `aborted`: the caller gave up.
 * - `unauthorized` 401, `forbidden` 403, `notFound` 404, `conflict` 409, `throttled` 429, `unavailable` 5xx (also 408, 421, and
 *   at first 401 for a new access token), `invalid` 400 and every other 4xx. `throttled` and `unavailable` without a status: the
 *   call was held back, as the other side is known to answer so.
 * - `badAnswer`: a status of success with an answer that makes no sense (the call may have taken effect), or a redirect.
 */
export type ApiErrorKind =
  | 'unreachable'
  | 'lost'
  | 'unauthorized'
  | 'forbidden'
  | 'notFound'
  | 'conflict'
  | 'invalid'
  | 'throttled'
  | 'unavailable'
  | 'badAnswer'
  | 'aborted';

export interface ApiErrorFields {
  readonly api: 'cloud' | 'server';
  /** The operation's name, from a closed list: fit for a metric's label. */
  readonly operation: string;
  /** What was tried, worded to follow `Cannot`: `deploy cluster "orders"`. */
  readonly phrase: string;
  readonly kind: ApiErrorKind;
  /** What went wrong, in our words. */
  readonly what: string;
  readonly status?: number | undefined;
  /** The error body's `code` and `message`, as they came. */
  readonly code?: string | undefined;
  readonly serverMessage?: string | undefined;
  /** What the transport said, if there is no answer. */
  readonly detail?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly heldSinceMs?: number | undefined;
  readonly isWithheld?: boolean | undefined;
  /** Whether repeating the operation does no harm if the first call took effect. */
  readonly idempotent: boolean;
  /** Everything that must not show up in the message. */
  readonly secrets?: readonly string[];
  /** What the request said openly: no secret to those who may read the message. */
  readonly said?: readonly string[];
}

const MAX_CODE = 100;
/** Long enough for a server to say where a schema is wrong, and why. */
const MAX_SERVER_MESSAGE = 1000;
/** Redaction reads no more of a text than this. */
const MAX_REDACTED = 4096;

/** The only error of both clients. Holds no secret, whatever the other side sent back: safe for logs, events and statuses. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly api: 'cloud' | 'server';
  readonly operation: string;
  readonly kind: ApiErrorKind;
  /** `undefined` if there was no answer. */
  readonly status: number | undefined;
  /** The server's words: for people, not for decisions (compatibility.md: codes are not stable). */
  readonly code: string | undefined;
  readonly serverMessage: string | undefined;
  /** What went wrong, without what was tried. */
  readonly failure: string;
  /** Retry no sooner than this many milliseconds, if the other side named a time or is known to be down. */
  readonly retryAfterMs: number | undefined;
  /** Since when calls have failed, if this one was not tried for that reason. Wall clock, milliseconds since the epoch. */
  readonly heldSinceMs: number | undefined;
  /** This process was not allowed to send it, which says nothing about the other side. */
  readonly isWithheld: boolean;
  /** The call may have taken effect, in whole or in part: look before repeating it. */
  readonly effectUnknown: boolean;
  /** The same call may be made again later: the failure may pass with time, and a second effect does no harm. */
  readonly retryable: boolean;

  constructor(fields: ApiErrorFields) {
    const redacted = redactor(fields.secrets ?? [], fields.said);
    const code = clean(fields.code, redacted, MAX_CODE);
    const serverMessage = clean(fields.serverMessage, redacted, MAX_SERVER_MESSAGE);
    const detail = clean(fields.detail, redacted, MAX_SERVER_MESSAGE);
    const failure = `${fields.what}${inParentheses(fields.status, code, serverMessage ?? detail)}`;
    super(`Cannot ${fields.phrase}: ${failure}`);
    this.api = fields.api;
    this.operation = fields.operation;
    this.kind = fields.kind;
    this.status = fields.status;
    this.code = code;
    this.serverMessage = serverMessage;
    this.failure = failure;
    this.retryAfterMs = fields.retryAfterMs;
    this.heldSinceMs = fields.heldSinceMs;
    this.isWithheld = fields.isWithheld === true;
    this.effectUnknown = !GET_TOKENS.has(fields.operation) && mayHaveTakenEffect(fields.kind, fields.status);
    this.retryable = MENDED_BY_TIME.has(fields.kind) && (fields.idempotent || !this.effectUnknown);
  }
}

/** Reports whether the other side refuses what it was asked for, and will again while all is as it is. Some say 409 where others say 400. */
export function isRefused(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.kind === 'invalid' || error.kind === 'conflict');
}

/** Reports whether the call was not tried because the other side is known to be down, or to let no more through. */
export function isHeldBack(error: unknown): error is ApiError {
  return (
    error instanceof ApiError &&
    (error.kind === 'unavailable' || error.kind === 'throttled') &&
    error.status === undefined
  );
}

const MENDED_BY_TIME: ReadonlySet<ApiErrorKind> = new Set([
  'unreachable',
  'lost',
  'throttled',
  'unavailable',
  'badAnswer',
]);

/** Operations of either API that only give a token: the call that needed it was not sent, or was refused. */
const GET_TOKENS: ReadonlySet<string> = new Set(['authenticate', 'signIn']);

function mayHaveTakenEffect(kind: ApiErrorKind, status: number | undefined): boolean {
  if (kind === 'lost' || kind === 'badAnswer' || kind === 'aborted') return true;
  if (status === 401) return false;
  return kind === 'unavailable' && status !== undefined && status !== 421;
}

function inParentheses(status: number | undefined, code: string | undefined, message: string | undefined): string {
  const words = [code, message].filter((word) => word !== undefined).join(': ');
  const parts = [status === undefined ? '' : `HTTP ${status}`, words].filter((part) => part !== '');
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

type Redacted = (text: string) => string;

/** One line of bounded length without secrets. */
function clean(text: string | undefined, redacted: Redacted, maxLength: number): string | undefined {
  if (text === undefined) return undefined;
  const line = oneLine(startOf(text, redacted));
  if (line === '') return undefined;
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1).toWellFormed()}…`;
}

/** Removes secrets before the cut. A secret cut by the limit itself may leave too little at the end to be recognised: that is dropped. */
function startOf(text: string, redacted: Redacted): string {
  if (text.length <= MAX_REDACTED) return redacted(text);
  return redacted(text.slice(0, MAX_REDACTED)).slice(0, 1 - REDACT_WINDOW);
}
