/** A request as it came in: raw path (still percent-encoded, with its query), header names in lower case. */
export interface Incoming {
  /** The host:port of the request: that of the base URL is the management API, any other a database server. */
  readonly authority: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The token of `Authorization: Bearer`, if there is one. */
export function bearerOf({ headers }: Pick<Incoming, 'headers'>): string | undefined {
  return /^Bearer (\S+)$/.exec(headers['authorization'] ?? '')?.[1];
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An answer that is not ready yet: ask again at `untilMs`, or earlier if `wake` calls back. */
export interface Wait {
  readonly untilMs: number;
  /** Registers a callback and returns a function that removes it. */
  readonly wake?: (callback: () => void) => () => void;
  readonly resume: (now: number) => Reply;
}

export type Reply = Answer | Wait;

export const isWait = (reply: Reply): reply is Wait => 'resume' in reply;

export function json(status: number, value: unknown): Answer {
  return jsonText(status, JSON.stringify(value));
}

export function jsonText(status: number, body: string): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body };
}

export function plain(status: number, body: string): Answer {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body };
}

export function empty(status: number): Answer {
  return { status, headers: {}, body: '' };
}

/**
 * A request that is answered with an error. Thrown where the rule is broken, and turned into `{ code, message }` in one
 * place (both documents, Errors).
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly code: string;
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(status: number, code: string, message: string, extra: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.extra = extra;
  }
}
