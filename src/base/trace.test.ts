import { type Span, trace } from '@opentelemetry/api';
import { expect, onTestFinished, test } from 'vitest';
import { inSpan, tracedTransport } from './trace.ts';
import { HttpError, type HttpTransport } from './transport.ts';

/** A minimal SDK that records what it is told, in order. */
function anSdk() {
  const told: unknown[] = [];
  const span = {
    setAttribute: (name: string, value: unknown) => told.push([name, value]),
    setStatus: (status: unknown) => told.push(status),
    end: () => told.push('end'),
  } as unknown as Span;
  const startActiveSpan = (name: string, options: object, work: (span: Span) => unknown) => {
    told.push({ name, ...options });
    return work(span);
  };
  // Of another test in this process.
  trace.disable();
  trace.setGlobalTracerProvider({ getTracer: () => ({ startActiveSpan, startSpan: () => span }) as never });
  onTestFinished(() => trace.disable());
  return told;
}

const OK = 0;
const ERROR = 2;
const transport: HttpTransport = async ({ url }) => {
  if (url.includes('lost')) throw new HttpError('lost', 'Connection reset');
  return { status: url.includes('missing') ? 404 : 200, headers: {}, body: (async function* () {})() };
};
const get = (path: string) => tracedTransport(transport)({ method: 'GET', url: `https://cloud.test:8443/${path}` });

test('inSpan() does the work, with and without an SDK, and ends its span', async () => {
  expect(await inSpan('pass', {}, async () => 7)).toBe(7);
  const told = anSdk();
  expect(await inSpan('pass', { name: 'a' }, async () => 7)).toBe(7);
  expect(told).toEqual([{ name: 'pass', attributes: { name: 'a' }, kind: OK }, 'end']);
});

test('inSpan() finds an SDK that has an API of its own, of the version that current SDKs want: below 1.10', async () => {
  trace.disable();
  const names: string[] = [];
  const startActiveSpan = (name: string, _: object, work: (span: Span) => unknown) => {
    names.push(name);
    return work({ end: () => {} } as Span);
  };
  // How copies of the API find each other.
  const GLOBAL = Symbol.for('opentelemetry.js.api.1');
  Reflect.set(globalThis, GLOBAL, { version: '1.9.1', trace: { getTracer: () => ({ startActiveSpan }) } });
  onTestFinished(() => void Reflect.deleteProperty(globalThis, GLOBAL));
  await inSpan('pass', {}, async () => 7);
  expect(names).toEqual(['pass']);
});

test('inSpan() records what the work threw, and throws it on', async () => {
  const told = anSdk();
  await expect(inSpan('pass', {}, () => Promise.reject(new Error('Broken')))).rejects.toThrow('Broken');
  expect(told.slice(1)).toEqual([{ code: ERROR, message: 'Broken' }, 'end']);
});

test('tracedTransport() records method, host and answer, but no path, which may contain a secret', async () => {
  const told = anSdk();
  await get('users/canary');
  await get('missing');
  await get('lost').catch(() => {});
  const begin = {
    name: 'GET',
    kind: 2,
    attributes: { 'http.request.method': 'GET', 'server.address': 'cloud.test', 'server.port': 8443 },
  };
  expect(told).toEqual([
    ...[begin, ['http.response.status_code', 200], 'end'],
    ...[begin, ['http.response.status_code', 404], { code: ERROR }, 'end'],
    ...[begin, { code: ERROR, message: 'Connection reset' }, 'end'],
  ]);
});

test.each([
  ['https://cloud.test/x', 'cloud.test', 443],
  ['http://127.0.0.1/', '127.0.0.1', 80],
  ['https://[2001:db8::1]:8443/x', '2001:db8::1', 8443],
])('tracedTransport() names host and port of %s apart', async (url, address, port) => {
  const told = anSdk();
  await tracedTransport(transport)({ method: 'GET', url });
  expect(told[0]).toMatchObject({ attributes: { 'server.address': address, 'server.port': port } });
});

test('tracedTransport() leaves it to the transport to refuse what is no URL', async () => {
  const told = anSdk();
  await tracedTransport(transport)({ method: 'GET', url: 'no URL' });
  expect(told[0]).toMatchObject({ attributes: { 'http.request.method': 'GET', 'server.address': '' } });
});
