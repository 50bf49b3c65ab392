import type { HttpResponse } from '../base/transport.ts';
import { REDACT_WINDOW } from './redact.ts';

/** The documents' error object, as far as it came. */
export interface ErrorBody {
  readonly code?: string;
  readonly message?: string;
  /** Comes with status 421 from servers of several machines (compatibility.md). */
  readonly primaryAddress?: string;
}

const MAX_ERROR_BYTES = 64 * 1024;

/** Never fails, as the status says enough. Bodies may be missing, plain text, HTML or cut (compatibility.md). */
export async function readErrorBody(response: HttpResponse): Promise<ErrorBody> {
  const { start, isBroken } = await readStart(response.body);
  // trim() also removes the byte order mark that .NET, for one, begins with.
  const text = start.trim();
  if (encodingWords(response) !== undefined) return {};
  const value = parse(text);
  if (typeof value === 'object' && value !== null) {
    return { ...member(value, 'code'), ...member(value, 'message'), ...member(value, 'primaryAddress') };
  }
  // Of a secret that broke off too little may have come to be recognized.
  const whole = isBroken ? text.slice(0, 1 - REDACT_WINDOW).trim() : text;
  const plain = typeof value === 'string' ? value.trim() : whole;
  return plain === '' || /^[<{[]/.test(plain) ? {} : { message: plain };
}

/** Why the answer cannot be read, if it is packed; undefined if it is not. */
export function encodingWords({ headers }: Pick<HttpResponse, 'headers'>): string | undefined {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return undefined;
  const name = /^[a-z0-9, -]{1,40}$/.test(encoding) ? `${encoding}-encoded` : 'encoded';
  return `the answer is ${name}, though identity was asked for`;
}

/** Returns what comes, up to the limit or until the body breaks off. */
async function readStart(
  body: AsyncIterable<Uint8Array>,
): Promise<{ readonly start: string; readonly isBroken: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let isBroken = false;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.byteLength;
      if (size >= MAX_ERROR_BYTES) break;
    }
  } catch {
    isBroken = true;
  }
  return { start: Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES).toString('utf8'), isBroken };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function member(value: object, name: 'code' | 'message' | 'primaryAddress'): ErrorBody {
  const found: unknown = Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
  if (typeof found === 'number') return { [name]: String(found) };
  return typeof found === 'string' && found !== '' ? { [name]: found } : {};
}
