import { type Span, type SpanOptions, trace } from '@opentelemetry/api';
import { onTestFinished } from 'vitest';

/** What an SDK was told of one span. */
export interface ToldSpan extends SpanOptions {
  readonly name: string;
  /** All that was told after its begin, as `[method, …arguments]`. */
  readonly told: (readonly unknown[])[];
}

/** An SDK that keeps all that it is told, by whatever method of a span, until the test ends. */
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
  // That of another test in this process.
  trace.disable();
  trace.setGlobalTracerProvider({ getTracer: () => ({ startActiveSpan, startSpan }) as never });
  onTestFinished(() => trace.disable());
  return spans;
}
