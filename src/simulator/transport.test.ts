import { describe, expect, it } from 'vitest';
import { manualClock } from '../../test/support/clock.ts';
import { settled } from '../../test/support/simulator.ts';
import { HttpError, type HttpRequest } from '../base/transport.ts';
import type { Outcome } from './faults/effects.ts';
import { createTransport } from './transport.ts';

const answering = (outcome: Outcome) => createTransport(async () => outcome, manualClock());
const request: HttpRequest = { method: 'GET', url: 'https://cloud.simulator.test/a%2Fb?c=d' };

async function kindOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof HttpError) return error.kind;
    throw error;
  }
  return 'none';
}

describe('createTransport', () => {
  it('passes on what came in, unchanged', async () => {
    const seen: unknown[] = [];
    const transport = createTransport(async (incoming) => {
      seen.push(incoming);
      return { kind: 'answer', answer: { status: 200, headers: {}, body: '' } };
    }, manualClock());
    await transport({ ...request, method: 'POST', headers: { 'x-a': 'b' }, body: 'text' });
    expect(seen).toEqual([
      {
        authority: 'cloud.simulator.test',
        method: 'POST',
        path: '/a%2Fb?c=d',
        headers: { 'x-a': 'b', host: 'cloud.simulator.test' },
        body: 'text',
      },
    ]);
  });

  it('sends large bodies in pieces, whole', async () => {
    const body = 'é'.repeat(100_000);
    const response = await answering({ kind: 'answer', answer: { status: 200, headers: {}, body } })(request);
    const pieces: Uint8Array[] = [];
    for await (const piece of response.body) pieces.push(piece);
    expect(pieces.length).toBe(4);
    expect(Buffer.concat(pieces).toString('utf8')).toBe(body);
  });

  it.each([
    [{ kind: 'refused' }, 'unreachable'],
    [{ kind: 'reset' }, 'lost'],
  ] as const)('turns %j into %s', async (outcome, kind) => {
    expect(await kindOf(answering(outcome)(request))).toBe(kind);
  });

  it('breaks off in the middle of a body', async () => {
    const answer = { status: 200, headers: {}, body: '12345678' };
    const response = await answering({ kind: 'answer', answer, breaksHalfway: true })(request);
    const pieces: string[] = [];
    const reading = (async () => {
      for await (const piece of response.body) pieces.push(Buffer.from(piece).toString());
    })();
    expect(await kindOf(reading)).toBe('lost');
    expect(pieces).toEqual(['1234']);
  });

  it.each([
    [undefined, 20_000],
    [{ headersMs: 50 }, 50],
    [{ headersMs: 0, totalMs: 70 }, 70],
  ] as const)('gives up with timeouts %j after %i ms, by the clock', async (timeouts, limitMs) => {
    const clock = manualClock();
    const transport = createTransport((_, signal) => waitFor(signal), clock);
    const kind = kindOf(transport({ ...request, ...(timeouts === undefined ? {} : { timeouts }) }));
    clock.advance(limitMs - 1);
    await settled();
    expect(clock.timers()).toBe(1);
    clock.advance(1);
    expect(await kind).toBe('lost');
    expect(clock.timers()).toBe(0);
  });

  it('ends with aborted when the caller aborts, before or meanwhile', async () => {
    const transport = createTransport((_, signal) => waitFor(signal), manualClock());
    const controller = new AbortController();
    const meanwhile = kindOf(transport({ ...request, signal: controller.signal }));
    controller.abort();
    expect(await meanwhile).toBe('aborted');
    expect(await kindOf(transport({ ...request, signal: AbortSignal.abort() }))).toBe('aborted');
  });
});

function waitFor(signal: AbortSignal | undefined): Promise<Outcome> {
  return new Promise((resolve) => signal?.addEventListener('abort', () => resolve({ kind: 'reset' })));
}
