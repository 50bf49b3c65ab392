import * as z from 'zod';
import { API_VERSION } from '../../src/base/group.ts';
import type { Resource } from '../../src/kube/api.ts';
import type { ResourceDefinition } from '../../src/kube/definition.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import type { Decision, Kind, StatusPatch, Subject } from '../../src/runtime/kind.ts';
import { type Outcome, type ReconcileContext, reconcile } from '../../src/runtime/reconcile.ts';
import { Store } from '../../src/runtime/store.ts';
import { FakeKube } from '../../src/sandbox/fake-kube.ts';
import { virtualClock } from '../../src/sandbox/virtual-clock.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';

export const TOYS: Resource = { group: 'mooring.dev', version: 'v1alpha1', plural: 'toys', kind: 'Toy' };
export const TOY_FINALIZER = 'mooring.dev/toy';

const condition = z.object({
  type: z.string(),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string(),
  message: z.string(),
  observedGeneration: z.number().optional(),
  lastTransitionTime: z.string(),
});
const lastError = z.object({
  operation: z.string(),
  httpStatus: z.number().optional(),
  code: z.string().optional(),
  message: z.string(),
  time: z.string(),
});
const specSchema = z.object({ size: z.number().default(1), friend: z.string().optional() });
const statusSchema = z.object({
  observedGeneration: z.number().default(-1),
  lastHandledReconcileAt: z.string().optional(),
  conditions: z.array(condition).optional(),
  lastError: lastError.optional(),
  size: z.number().optional(),
  color: z.string().optional(),
});

export type ToySpec = z.output<typeof specSchema>;
export type ToyStatus = z.output<typeof statusSchema>;
export type ToySubject = Subject<ToySpec, ToyStatus>;
export type ToyKind = Kind<ToySpec, ToyStatus, unknown, string>;

/** What a test defines of the kind; by default it looks at nothing and does nothing. */
export interface ToyBehaviour extends Pick<ToyKind, 'owns' | 'abandon' | 'record'> {
  readonly observe?: (subject: ToySubject) => Promise<unknown>;
  readonly decide?: (subject: ToySubject) => Decision<ToyStatus, string>;
  readonly act?: (
    subject: ToySubject,
    step: string,
    keep: (facts: StatusPatch<ToyStatus>) => void,
  ) => Promise<StatusPatch<ToyStatus> | undefined>;
}

const definition: ResourceDefinition<ToySpec, ToyStatus> = {
  kind: 'Toy',
  plural: 'toys',
  singular: 'toy',
  shortNames: [],
  categories: [],
  description: 'A toy.',
  spec: specSchema,
  status: statusSchema,
  printerColumns: [],
};

/** A kind whose steps are words. It owns something once its status has a size. Toys that refer to the same friend are a group. */
export function toyKind(behaviour: ToyBehaviour, log: string[]): ToyKind {
  return {
    definition,
    resource: TOYS,
    finalizer: TOY_FINALIZER,
    references: ({ spec }) => (spec.friend === undefined ? [] : [`friends/${spec.friend}`]),
    group: ({ spec }) => spec.friend ?? '',
    holds: (status) => status.size !== undefined,
    ...(behaviour.owns === undefined ? {} : { owns: behaviour.owns }),
    ...(behaviour.abandon === undefined ? {} : { abandon: behaviour.abandon }),
    ...(behaviour.record === undefined ? {} : { record: behaviour.record }),
    observe: (subject) => {
      log.push('observe');
      return behaviour.observe?.(subject) ?? Promise.resolve(undefined);
    },
    decide: (subject) => behaviour.decide?.(subject) ?? { conditions: [] },
    act: (subject, step, _signal, keep) => behaviour.act?.(subject, step, keep) ?? Promise.resolve(undefined),
    describe: (step) => step,
    forget: (key, why) => log.push(`forget ${key}, ${why}`),
  };
}

interface ToyStart {
  readonly spec?: object;
  readonly status?: object;
  readonly finalizers?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The only toy. */
export const TOY = { namespace: 'ns', name: 'toy' };

/** One toy `ns/toy` on an API server in memory, and a store that sees only what it is shown. */
export function aToy(behaviour: ToyBehaviour = {}) {
  const clock = virtualClock();
  const api = new FakeKube({
    now: clock.now,
    random: createSeededRandom(1),
    statusDefaults: { toys: { observedGeneration: -1 } },
  });
  const log: string[] = [];
  const kind = toyKind(behaviour, log);
  const store = new Store<KubeObject>(() => {});
  const object = (): KubeObject => {
    const found = api.all(TOYS)[0];
    if (found === undefined) throw new Error('There is no toy');
    return found as unknown as KubeObject;
  };
  const see = () => store.apply(object());
  const changeUnseen = (patch: object) => api.patch(TOYS, TOY, patch);
  const createUnseen = async (start: ToyStart) => {
    const { spec = {}, status, ...metadata } = start;
    await api.create(TOYS, 'ns', {
      apiVersion: API_VERSION,
      kind: 'Toy',
      metadata: { name: 'toy', ...metadata },
      spec,
    });
    if (status !== undefined) await api.patch(TOYS, TOY, { status }, { subresource: 'status' });
  };
  const context = (more: Partial<ReconcileContext>): ReconcileContext => ({
    api,
    clock,
    read: (key) => store.get(key),
    written: (written) => store.applyOwnWrite(written),
    onReady: (_object, _before, after) => log.push(`Ready ${after.reason}`),
    onUntold: (_object, { reason }) => log.push(`untold ${reason}`),
    onStep: (description) => log.push(`going to ${description}`),
    failsForMs: () => Number.POSITIVE_INFINITY,
    conflictsLast: false,
    tellAlways: false,
    ...more,
  });
  return {
    api,
    clock,
    kind,
    log,
    object,
    exists: () => api.all(TOYS).length > 0,
    status: (): ToyStatus => statusSchema.parse(object().status),
    create: async (start: ToyStart = {}) => {
      await createUnseen(start);
      see();
    },
    /** Makes a change that the watch has reported. */
    change: async (patch: object) => {
      await changeUnseen(patch);
      see();
    },
    changeUnseen,
    markDeleted: async () => {
      api.remove(TOYS, TOY);
      see();
    },
    removeUnseen: () => {
      api.remove(TOYS, TOY);
    },
    replaceUnseen: async () => {
      await changeUnseen({ metadata: { finalizers: null } });
      api.remove(TOYS, TOY);
      await createUnseen({});
    },
    reconcile: (key = 'ns/toy', more: Partial<ReconcileContext> = {}): Promise<Outcome> =>
      reconcile(kind, context(more), key, new AbortController().signal),
  };
}
