import type { Metrics } from '../../src/runtime/metrics.ts';

/** Metrics of which only passes are counted, by kind. */
export function countingMetrics(passed: (kind: string) => void): Metrics {
  const nothing = () => {};
  return {
    contentType: 'text/plain',
    text: async () => '',
    controller: (kind) => ({
      queue: { added: nothing, retried: nothing, started: nothing, finished: nothing },
      started: () => {
        passed(kind);
        return nothing;
      },
      watchQueue: nothing,
    }),
    apiRequest: nothing,
    kubeRequest: nothing,
    driftCorrected: nothing,
    onScrape: nothing,
  };
}
