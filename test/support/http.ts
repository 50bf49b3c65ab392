import type { HttpRequest, HttpResponse, HttpTransport } from '../../src/base/transport.ts';

/** The answer of a scripted transport: a status with a body, or an error to throw. */
export type ScriptedAnswer =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** A string is sent as it is, anything else as JSON; chunks are sent one by one. */
      readonly body?: unknown;
      readonly chunks?: readonly Uint8Array[];
      /** Thrown after the body's chunks. */
      readonly breaks?: Error;
    }
  | Error;

export type Script = (request: HttpRequest, count: number) => ScriptedAnswer | Promise<ScriptedAnswer>;

export interface ScriptedTransport extends HttpTransport {
  readonly requests: HttpRequest[];
  /** How many answers' bodies have been read to the end or abandoned. */
  readonly released: () => number;
}

/** A transport that answers from a script and records its requests. */
export function scriptedTransport(script: Script): ScriptedTransport {
  const requests: HttpRequest[] = [];
  let released = 0;
  const transport: HttpTransport = async (request) => {
    requests.push(request);
    const answer = await script(request, requests.length - 1);
    if (answer instanceof Error) throw answer;
    return { status: answer.status, headers: answer.headers ?? {}, body: bodyOf(answer, () => released++) };
  };
  return Object.assign(transport, { requests, released: () => released });
}

async function* bodyOf(
  answer: Exclude<ScriptedAnswer, Error>,
  release: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    if (answer.chunks !== undefined) yield* answer.chunks;
    else if (answer.body !== undefined) yield Buffer.from(textOf(answer.body));
    if (answer.breaks !== undefined) throw answer.breaks;
  } finally {
    release();
  }
}

function textOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

/** An answer outside a transport. */
export function anAnswer(chunks: readonly (string | Uint8Array)[], headers: Record<string, string> = {}): HttpResponse {
  return { status: 200, headers, body: streamOf(chunks) };
}

export async function* streamOf(chunks: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}
