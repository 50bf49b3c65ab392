import { createLog } from '../../src/base/log.ts';
import type { Random } from '../../src/base/random.ts';
import { HttpError } from '../../src/base/transport.ts';
import type { KubeApi } from '../../src/kube/api.ts';
import { createMetrics } from '../../src/operator/metrics.ts';
import { createOperator, type Operator } from '../../src/operator.ts';
import type { VirtualClock } from '../../src/sandbox/virtual-clock.ts';

interface Given {
  readonly api: KubeApi;
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly namespaces: readonly string[];
  /** Takes each line of the log. */
  readonly write: (line: string) => void;
}

/** An operator without a Lease and without a cloud, for what it does before it has looked at anything outside. */
export function loneOperator({ write, ...given }: Given): Operator {
  return createOperator({
    ...given,
    transport: () => () => Promise.reject(new HttpError('unreachable', 'There is no cloud here')),
    log: createLog({ level: 'info', format: 'json', write }),
    metrics: createMetrics(given.clock, { version: '', node: '' }),
    concurrency: 2,
    urlPolicy: { allowHTTP: false, allowedBaseURLs: undefined, allowedNetworks: undefined },
    instance: 'operator',
    lease: undefined,
  });
}
