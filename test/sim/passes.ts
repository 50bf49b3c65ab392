import { INVALID_SPAN_CONTEXT, type Span, type SpanOptions, trace } from '@opentelemetry/api';
import type { Metrics, ScrapedState } from '../../src/operator/metrics.ts';

/** How a pass ended. */
export type PassResult = 'success' | 'error' | 'requeue' | 'requeue_after';

/** The pass that has just begun. Its span names the object. */
let begun: { key: string } | undefined;

/** Passes everything that spans show to `told` from now on. Spans of passes name the object of `begun`. */
export function watchPasses(told: (shown: unknown) => void): void {
  const unseen = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
  const span = {
    setAttribute: (...attribute: unknown[]) => told(attribute),
    setStatus: told,
    recordException: (error: unknown) => told(String(error)),
    end: () => {},
  } as unknown as Span;
  const startActiveSpan = (name: string, options: SpanOptions, work: (span: Span) => unknown) => {
    const { attributes = {} } = options;
    if (name === 'reconcile' && begun !== undefined) {
      begun.key = `${attributes['kind']} ${attributes['namespace']}/${attributes['name']}`;
      begun = undefined;
    }
    told([name, attributes]);
    return work(span);
  };
  // Of an earlier world, or of the operator with another mistake.
  trace.disable();
  // The operator calls it in this form only.
  trace.setGlobalTracerProvider({ getTracer: () => ({ startActiveSpan, startSpan: () => unseen }) as never });
}

/** Receives what metrics report. */
export interface MetricsTold {
  /** A pass ended; `key`: kind, namespace and name of its object. */
  passed(key: string, result: PassResult): void;
  /** A series is shown under these labels. */
  labelled(labels: object): void;
  onScrape(collect: () => ScrapedState): void;
}

/** Metrics without figures: they report the end of each pass, and which labels each series would show. */
export function metricsTold({ passed, labelled, onScrape }: MetricsTold): Metrics {
  const nothing = () => {};
  return {
    contentType: 'text/plain',
    text: async () => '',
    controller: () => ({
      queue: { added: nothing, retried: nothing, started: nothing, finished: nothing },
      started: () => {
        const pass = { key: '' };
        begun = pass;
        return (result) => passed(pass.key, result);
      },
      watchQueue: nothing,
    }),
    apiRequest: (api, { operation, code }) => labelled({ api, operation, code }),
    kubeRequest: labelled,
    driftCorrected: (kind, field) => labelled({ kind, field }),
    onScrape,
  };
}
