/** Makes one HTTP exchange. Everything outside the process is reached through this. */
export type HttpTransport = (request: HttpRequest) => Promise<HttpResponse>;

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
  readonly timeouts?: Partial<HttpTimeouts>;
  /**
   * Called when the first byte is about to leave, after all waiting for a connection. Says why it must not; undefined if it may.
   * The process may have been frozen while it waited, and what was true before may no longer be.
   */
  readonly refusal?: (() => string | undefined) | undefined;
}

/** In milliseconds; 0 means none. */
export interface HttpTimeouts {
  /** Until the answer's headers arrive. */
  readonly headersMs: number;
  /** The longest silence between two pieces of the body. */
  readonly bodyMs: number;
  /** The whole exchange, body included. */
  readonly totalMs: number;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; repeated headers joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** Must be read to its end, or left by `return()` (leaving a `for await` does), to free the connection. */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * The exchange did not end in an answer.
 * - `unreachable`: the request was certainly not sent (name, connection or TLS failed, or not even a connection came in time).
 * - `lost`: it may have arrived, and may have taken effect (time ran out, connection broke).
 * - `tooLarge`: the answer is larger than the caller takes.
 * - `aborted`: the caller's signal ended it; it may have arrived.
 */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly kind: 'unreachable' | 'lost' | 'tooLarge' | 'aborted';
  /** Part of the answer came, and then nothing for `bodyMs`. */
  readonly isSilence: boolean;
  /** Not even the answer's headers came: as far as this request can tell, nobody is there. Also false if that is not known. */
  readonly isUnanswered: boolean;
  /** This process was not allowed to send it, which says nothing about the other side. */
  readonly isWithheld: boolean;
  /** Nobody that this process trusts vouches for the other side's certificate. */
  readonly isUntrusted: boolean;
  /** It had to go through a proxy, which may be to blame; the message names it. */
  readonly isProxied: boolean;

  constructor(
    kind: HttpError['kind'],
    message: string,
    options?: {
      cause?: unknown;
      isUnanswered?: boolean;
      isSilence?: boolean;
      isWithheld?: boolean;
      isUntrusted?: boolean;
      isProxied?: boolean;
    },
  ) {
    super(message, options);
    this.kind = kind;
    this.isSilence = options?.isSilence === true;
    this.isWithheld = options?.isWithheld === true;
    this.isUntrusted = options?.isUntrusted === true;
    this.isProxied = options?.isProxied === true;
    this.isUnanswered = (kind === 'unreachable' && !this.isWithheld) || options?.isUnanswered === true;
  }
}

/** The error of a request that this process may not send, for the given reason. */
export function withheld(reason: string): HttpError {
  return new HttpError('unreachable', `Not sent: ${reason}`, { isWithheld: true });
}

/** Returns the whole body as text. Fails with `tooLarge` past `maxBytes`, without reading the rest. */
export async function readText(response: HttpResponse, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new HttpError('tooLarge', `Answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
