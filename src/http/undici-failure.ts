import { messageOf } from '../base/errors.ts';
import { HttpError, type HttpRequest } from '../base/transport.ts';

/** No trusted certificate vouches for the other side's. */
const UNTRUSTED = /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_UNTRUSTED)/;

/** How far the exchange had come. `isSent`: the first byte of the request may have left. `isOver`: its time is. */
interface Progress {
  readonly isSent: boolean;
  readonly isOver: boolean;
  readonly isUnanswered: boolean;
}

/** Whether the request was sent does not follow from the error's code: a connection that is in use can also become unreachable. */
export function toHttpError(
  error: unknown,
  request: HttpRequest,
  { isSent, isOver, isUnanswered }: Progress,
): HttpError {
  if (error instanceof HttpError) return error;
  const where = `${request.method} ${URL.parse(request.url)?.origin ?? 'an invalid URL'}`;
  if (request.signal?.aborted) return new HttpError('aborted', `${where}: Aborted`, { cause: error });
  const code = codeOf(error);
  const details = {
    cause: error,
    isUnanswered,
    isSilence: !isOver && code === 'UND_ERR_BODY_TIMEOUT',
    isUntrusted: UNTRUSTED.test(code),
  };
  const inTime = isSent ? 'No complete answer in time' : 'No connection in time';
  return new HttpError(
    isSent ? 'lost' : 'unreachable',
    `${where}: ${isOver ? inTime : describe(error, code)}`,
    details,
  );
}

/** Names the proxy, without its login: otherwise its address looks like the server's, and what it does like the server's doing. */
export function throughProxy(error: HttpError, proxy: string | undefined): HttpError {
  if (proxy === undefined || error.isWithheld || error.kind === 'aborted') return error;
  const message = `${error.message}, through the proxy ${new URL(proxy).origin}`;
  return new HttpError(error.kind, message, { ...error, cause: error, isProxied: true });
}

/** What kept a connection to a proxy from being made. A space's `caBundle`, the usual remedy, is not for proxies. */
export function proxyFailure(error: Error): Error {
  if (!UNTRUSTED.test(codeOf(error))) return error;
  const remedy = 'if it should be, name a file with its certificate authority in NODE_EXTRA_CA_CERTS';
  const message = `The proxy's certificate is not trusted: ${describe(error, codeOf(error))}; ${remedy}`;
  return new HttpError('unreachable', message, { cause: error });
}

export function codeOf(error: unknown): string {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && typeof current.code === 'string') return current.code;
    if (current instanceof AggregateError && current.errors.length > 0) return codeOf(current.errors[0]);
  }
  return '';
}

/** What happened at each address of a name, in an order that stays: a message that is the same is not written again. */
function attemptsOf(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(messageOf).toSorted().join(', ') : '';
}

/** What texts of OpenSSL, Node and undici leave open. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  // The other side's first bytes are not TLS, such as an HTTP server's answer.
  [/^TLS failed: (wrong version number|packet length too long)$/, ': it answers without TLS: is it http?'],
  [/^TLS failed: .*no application protocol$/, ': it does not speak HTTP/1.1'],
  [/^certificate has expired$/, ': its own, or one that vouches for it'],
  [/^certificate is not yet valid$/, ": or is this machine's clock wrong?"],
  [/^bad response$/, ': it sent 100 Continue unasked'],
  [/^bad upgrade$/, ': it sent 101 Switching Protocols unasked'],
];

/** What undici says if a proxy does not answer CONNECT as it should. */
const NOT_CONNECTED = /^Proxy response \((\d+)\)/;

function describe(error: unknown, code: string): string {
  const text = messageOf(error) || attemptsOf(error) || 'Connection failed';
  const [, refusal] = NOT_CONNECTED.exec(text) ?? [];
  if (refusal === '407') return 'The proxy refuses the login in its URL, or wants one (407)';
  if (refusal !== undefined) return `The proxy does not connect there (${refusal})`;
  // From OpenSSL's text, with places in its source and in memory, only which TLS failure it is.
  const [, failure] = /:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+)/.exec(text) ?? [];
  // Node's advice to whoever starts it does not help whoever reads this.
  const plain =
    failure === undefined ? text.replace(/; if the root CA is installed locally,.*$/, '') : `TLS failed: ${failure}`;
  const [, hint = ''] = HINTS.find(([pattern]) => pattern.test(plain)) ?? [];
  const message = `${plain}${hint}`;
  return code === '' || message.includes(code) ? message : `${message} (${code})`;
}
