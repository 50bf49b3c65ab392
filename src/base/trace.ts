import { type Attributes, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { messageOf } from './errors.ts';
import { hostOf } from './host-of.ts';
import type { HttpTransport } from './transport.ts';

/*
 * Traces through OpenTelemetry's API: a span for each pass, and within it one for each call that leaves the process. There are
 * none unless an SDK is loaded before Mooring, as with NODE_OPTIONS=--import; without one a span is a function call.
 */

/** Runs `work` in a span of this name, which records what it throws. */
export function inSpan<T>(
  name: string,
  attributes: Attributes,
  work: (span: Span) => Promise<T>,
  kind = SpanKind.INTERNAL,
): Promise<T> {
  return trace.getTracer('mooring').startActiveSpan(name, { attributes, kind }, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: messageOf(error) });
      throw error;
    } finally {
      span.end();
    }
  });
}

/**
 * The same transport, with a span for each exchange until its headers arrive, in the words of OpenTelemetry's semantic
 * conventions. The span contains neither path nor headers, as they may hold secrets, and nothing is added to the request.
 */
export function tracedTransport(transport: HttpTransport): HttpTransport {
  return (request) => {
    const attributes = { 'http.request.method': request.method, ...serverOf(request.url) };
    const exchange = async (span: Span) => {
      const response = await transport(request);
      span.setAttribute('http.response.status_code', response.status);
      if (response.status >= 400) span.setStatus({ code: SpanStatusCode.ERROR });
      return response;
    };
    return inSpan(request.method, attributes, exchange, SpanKind.CLIENT);
  };
}

function serverOf(text: string): Attributes {
  const url = URL.parse(text);
  if (url === null) return { 'server.address': '' };
  const port = url.port === '' ? DEFAULT_PORTS[url.protocol] : Number(url.port);
  return { 'server.address': hostOf(url), ...(port === undefined ? {} : { 'server.port': port }) };
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
