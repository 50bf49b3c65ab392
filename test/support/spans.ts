import { type Span, type SpanOptions, trace } from '@opentelemetry/api';
import { onTestFinished } from 'vitest';

/** What an SDK was told about one span. */
export interface ToldSpan extends SpanOptions {
  readonly name: string;
  /** All later calls, as `[method, …arguments]`. */
  readonly told: (readonly unknown[])[];
}

/** An SDK that records everything it is told, through any method of a span, until the test ends. */
export function keepSpans(): readonly ToldSpan[] {
  const spans: ToldSpan[] = [];
  const startSpan = (name: string, options: SpanOptions = {}): Span => {
    const told: (readonly unknown[])[] = [];
    spans.push({ name, ...options, told });
    return new Proxy({} as Span, {
      get: (_, method) => (method === 'then' ? undefined : (...given: unknown[]) => void told.push([method, ...given])),
    });
  };
  const startActiveSpan = (name: string, options: SpanOptions, work: (span: Span) => unknown) =>
    work(startSpan(name, options));
  // Removes the provider of another test in this process.
  trace.disable();
  trace.setGlobalTracerProvider({ getTracer: () => ({ startActiveSpan, startSpan }) as never });
  onTestFinished(() => trace.disable());
  return spans;
}
