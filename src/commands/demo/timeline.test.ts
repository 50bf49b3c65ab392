import { expect, test } from 'vitest';
import type { KubeObject } from '../../kube/object.ts';
import { APPLIED, Timeline } from './timeline.ts';

interface Said {
  readonly ready?: readonly [status: string, reason: string];
  readonly state?: string;
  readonly stalled?: boolean;
  readonly deleting?: boolean;
}

function cluster({ ready, state, stalled = false, deleting = false }: Said): KubeObject {
  const conditionOf = (type: string, status: string, reason: string) => ({
    ...{ type, status, reason, message: `Because of ${reason}`, observedGeneration: 1 },
    lastTransitionTime: '2026-11-20T10:00:00Z',
  });
  const conditions = [
    ...(ready === undefined ? [] : [conditionOf('Ready', ...ready)]),
    ...(stalled ? [conditionOf('Stalled', 'True', 'Any')] : []),
  ];
  return {
    apiVersion: 'mooring.dev/v1alpha1',
    kind: 'DatabaseCluster',
    metadata: {
      ...{ name: 'orders', namespace: 'default', uid: 'u', resourceVersion: '1' },
      ...(deleting ? { deletionTimestamp: '2026-11-20T10:00:00Z' } : {}),
    },
    spec: {},
    status: { observedGeneration: 1, conditions, ...(state === undefined ? {} : { state }) },
  };
}

test('each change is news once', () => {
  const timeline = new Timeline();
  const words = [
    cluster({}),
    cluster({ ready: ['Unknown', 'Deploying'] }),
    cluster({ ready: ['Unknown', 'Deploying'], state: 'starting' }),
    cluster({ ready: ['Unknown', 'Deploying'], state: 'starting' }),
    cluster({ ready: ['True', 'Running'], state: 'running' }),
    cluster({ ready: ['True', 'Running'], state: 'running', deleting: true }),
  ].map((object) => {
    const news = timeline.see(object);
    return news === undefined ? undefined : [news.word, news.state, news.meaning];
  });
  expect(words).toEqual([
    [APPLIED, '', 'busy'],
    ['Deploying', '', 'busy'],
    ['Deploying', 'starting', 'busy'],
    undefined,
    ['Ready', 'running', 'good'],
    ['Deleting', 'running', 'busy'],
  ]);
});

test('it knows what a person must act on, and the reason', () => {
  const timeline = new Timeline();
  timeline.see(cluster({ ready: ['False', 'ClusterIDInUse'], stalled: true }));
  expect(timeline.all()).toEqual([
    {
      subject: 'DatabaseCluster orders',
      word: 'ClusterIDInUse',
      meaning: 'bad',
      state: '',
      message: 'Because of ClusterIDInUse',
      stalled: true,
    },
  ]);
});

test('what is gone is forgotten', () => {
  const timeline = new Timeline();
  timeline.see(cluster({}));
  expect(timeline.forget(cluster({}))).toBe(true);
  expect(timeline.forget(cluster({}))).toBe(false);
  expect(timeline.all()).toEqual([]);
});
