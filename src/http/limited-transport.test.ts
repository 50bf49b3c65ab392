import { describe, expect, it } from 'vitest';
import { HttpError, type HttpRequest, type HttpResponse } from '../base/transport.ts';
import { limitedTransport } from './limited-transport.ts';

const ANSWER: HttpResponse = { status: 200, headers: {}, body: (async function* () {})() };

function aTransport(limit: number) {
  const sent: { readonly url: string; readonly answer: () => void; readonly fail: () => void }[] = [];
  const transport = limitedTransport(
    ({ url }) =>
      new Promise((resolve, reject) => {
        sent.push({ url, answer: () => resolve(ANSWER), fail: () => reject(new HttpError('lost', 'gone')) });
      }),
    limit,
  );
  const send = (url: string, more: Partial<HttpRequest> = {}) => transport({ method: 'GET', url, ...more });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { sent, send, settle, urls: () => sent.map(({ url }) => url) };
}

describe('limitedTransport()', () => {
  it('sends that many requests at once, and lets the others wait for their turn, in order', async () => {
    const { sent, send, settle, urls } = aTransport(2);
    const all = ['a', 'b', 'c', 'd'].map((url) => send(url));
    await settle();
    expect(urls()).toEqual(['a', 'b']);
    sent[1]?.answer();
    await settle();
    expect(urls()).toEqual(['a', 'b', 'c']);
    sent[0]?.answer();
    sent[2]?.answer();
    await settle();
    sent[3]?.answer();
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it('gives the place of a failed request to the next one', async () => {
    const { sent, send, settle, urls } = aTransport(1);
    const failing = send('a');
    const next = send('b');
    await settle();
    sent[0]?.fail();
    await expect(failing).rejects.toMatchObject({ kind: 'lost' });
    await settle();
    expect(urls()).toEqual(['a', 'b']);
    sent[1]?.answer();
    await next;
  });

  it("does not send a request that is given up while it waits, and gives it nobody's turn", async () => {
    const { sent, send, settle, urls } = aTransport(1);
    const first = send('a');
    const given = new AbortController();
    const gone = send('b', { signal: given.signal });
    const last = send('c');
    await settle();
    given.abort();
    await expect(gone).rejects.toMatchObject({ kind: 'aborted' });
    sent[0]?.answer();
    await first;
    await settle();
    expect(urls()).toEqual(['a', 'c']);
    sent[1]?.answer();
    await last;
  });
});
