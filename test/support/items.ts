import { definitions } from '../../src/kinds/definitions.ts';
import type { Condition } from '../../src/kube/condition.ts';
import { type Item, itemOf } from '../../src/plugin/item.ts';

/** An object as the commands for people see it; Ready and observed unless stated otherwise. */
export function anItem(
  kind: string,
  key: string,
  given: {
    readonly spec?: object;
    readonly ready?: readonly [Condition['status'], string, string];
    readonly stalled?: boolean;
    readonly reconciling?: boolean;
    readonly status?: object;
    readonly generation?: number;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deleted?: boolean;
    readonly finalizers?: readonly string[];
  } = {},
): Item {
  const definition = definitions.find((each) => each.kind === kind);
  if (definition === undefined) throw new Error(`There is no kind ${kind}`);
  const [namespace = '', name = ''] = key.split('/');
  const [status, reason, message] = given.ready ?? ['True', 'Fine', 'It is as the spec says'];
  const conditionOf = (type: string, value: Condition['status']): Condition => ({
    type,
    status: value,
    reason,
    message,
    observedGeneration: 1,
    lastTransitionTime: '2026-11-21T10:00:00Z',
  });
  return itemOf(definition, {
    metadata: {
      namespace,
      name,
      uid: `uid-of-${name}`,
      resourceVersion: '1',
      generation: given.generation ?? 1,
      creationTimestamp: '2026-11-21T09:00:00Z',
      annotations: given.annotations ?? {},
      finalizers: given.finalizers ?? [],
      ...(given.deleted === true ? { deletionTimestamp: '2026-11-21T10:30:00Z' } : {}),
    },
    spec: given.spec ?? {},
    status: {
      observedGeneration: 1,
      conditions: [
        conditionOf('Ready', status),
        ...(given.stalled ? [conditionOf('Stalled', 'True')] : []),
        ...(given.reconciling ? [conditionOf('Reconciling', 'True')] : []),
      ],
      ...given.status,
    },
  } as never);
}
