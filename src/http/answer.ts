import type { z } from 'zod';
import type { HttpResponse } from '../base/transport.ts';
import { BadAnswer, decodeUtf8, isBlank, parseJson, refusePacked } from './json-stream.ts';

/** Largest answer that holds only one object, in bytes. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Limits of an answer that is read an element at a time. `maxBytes` holds millions of the smallest, each of some 400 bytes when kept. */
export const LIST_LIMITS = {
  maxBytes: 64 * 1024 * 1024,
  maxElementBytes: 4 * 1024 * 1024,
  maxElements: 100_000,
} as const;

/** Returns the whole body. Fails with BadAnswer if it is too large, or a web page, as from a proxy or a wrong address. */
export async function readBytes(response: HttpResponse, maxBytes = MAX_ANSWER_BYTES): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new BadAnswer(`the answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  refuseWebPage(bytes);
  return bytes;
}

/** Expects nothing. The body is read, so that the connection is free again, and ignored unless it is a web page. */
export async function readNothing(response: HttpResponse): Promise<void> {
  await readBytes(response);
}

/**
 * Returns what `read` makes of the answer; undefined if it has no body. Any 2xx is success even so (compatibility.md). A proxy may pass
 * an empty body on in chunks, without its length. If there is neither, the end of the body only says that the connection ended.
 */
export async function readIfAny<T>(
  response: HttpResponse,
  read: (response: HttpResponse) => Promise<T>,
): Promise<T | undefined> {
  const { status, headers } = response;
  const isKnownEmpty = status === 204 || headers['content-length'] === '0';
  const isChunked = headers['transfer-encoding']?.trim().toLowerCase() === 'chunked';
  if (!isKnownEmpty && !isChunked) return read(response);
  const pieces = response.body[Symbol.asyncIterator]();
  for (;;) {
    const { done, value: first } = await pieces.next();
    if (done) return undefined;
    if (!isBlank(first)) return read({ ...response, body: allOf(first, pieces) });
  }
}

async function* allOf(first: Uint8Array, others: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield first;
    yield* { [Symbol.asyncIterator]: () => others };
  } finally {
    await others.return?.();
  }
}

export async function readTextAnswer(response: HttpResponse): Promise<string> {
  return decodeUtf8(await readBytes(response));
}

/** Reads a JSON value that fits `schema`. */
export async function readJson<Schema extends z.ZodType>(
  response: HttpResponse,
  schema: Schema,
): Promise<z.output<Schema>> {
  return shaped(schema, parseJson(await readBytes(response)), '');
}

/** Parses `value` with `schema`. Throws BadAnswer that says where and why it does not fit, without quoting it. */
export function shaped<Schema extends z.ZodType>(schema: Schema, value: unknown, where: string): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const path = [where, ...(issue?.path ?? []).map(String)].filter((part) => part !== '').join('.');
  throw new BadAnswer(`the answer makes no sense${path === '' ? '' : ` at ${path}`}: ${issue?.message ?? 'invalid'}`);
}

/** Absent or null (compatibility.md: servers send null for what is absent). */
export function maybe<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** The body in pieces. Fails with BadAnswer if the first one begins a web page, or is packed. */
export async function* pagelessBody({ body }: HttpResponse): AsyncGenerator<Uint8Array> {
  let begun = false;
  for await (const chunk of body) {
    if (!begun) {
      refuseWebPage(chunk);
      refusePacked(chunk);
    }
    begun ||= chunk.byteLength > 0;
    yield chunk;
  }
}

/** Judges by the first bytes, after any byte order mark. The label says less: Express and PHP call any text text/html. */
function refuseWebPage(bytes: Uint8Array): void {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 256)).toString('latin1');
  if (/^(?:\xef\xbb\xbf)?\s*</.test(start))
    throw new BadAnswer('the answer is a web page: is the address that of the API?');
}
