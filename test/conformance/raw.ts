import { expect } from 'vitest';
import { type HttpTransport, readText } from '../../src/base/transport.ts';

export interface RawRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly authorization?: string | undefined;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** A request that none of our clients would send, to see how the other side answers. */
export async function raw(
  place: { readonly baseURL: string; readonly transport: HttpTransport },
  request: RawRequest,
): Promise<RawAnswer> {
  const { method, path, authorization, body } = request;
  const response = await place.transport({
    method,
    url: place.baseURL.replace(/\/$/, '') + path,
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, text: await readText(response, 1_000_000) };
}

/** "All error responses carry the body { code: string, message: string }" (Errors). */
export function expectErrorObject(answer: RawAnswer, status: number): void {
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status });
  expect(JSON.parse(answer.text)).toMatchObject({ code: expect.any(String), message: expect.any(String) });
}

/** A violated rule: the document does not say which status, but it is a refusal. */
export function expectRefusal(answer: RawAnswer): void {
  expect(answer.status, answer.text).toBeGreaterThanOrEqual(400);
  expect(answer.status, answer.text).toBeLessThan(500);
}
