import { expect, test } from 'vitest';
import type { KubeObject } from '../../kube/object.ts';
import { APPLIED, Timeline } from './timeline.ts';

interface Said {
  readonly ready?: readonly [status: string, reason: string];
  readonly state?: string;
  readonly stalled?: boolean;
  readonly deleting?: boolean;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly more?: Readonly<Record<string, unknown>>;
}

function cluster({ ready, state, stalled = false, deleting = false, annotations = {}, more = {} }: Said): KubeObject {
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
      ...{ name: 'orders', namespace: 'default', uid: 'u', resourceVersion: '1', annotations },
      ...(deleting ? { deletionTimestamp: '2026-11-20T10:00:00Z' } : {}),
    },
    spec: {},
    status: { observedGeneration: 1, conditions, ...(state === undefined ? {} : { state }), ...more },
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
  ].flatMap((object) => {
    const news = timeline.see(object);
    return news.length === 0 ? [undefined] : news.map(({ word, state, meaning }) => [word, state, meaning]);
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

test('what was done to an object that stays Ready is news, too', () => {
  const timeline = new Timeline();
  const ready = ['True', 'Running'] as const;
  const paused = { 'mooring.dev/paused': 'true' };
  const rotated = (at: string) => ({ lastRotation: `2026-11-20T${at}:00:00Z`, binding: { name: 'app-connection' } });
  const told = [
    cluster({ ready }),
    // The first password replaces none.
    cluster({ ready, more: rotated('10') }),
    cluster({ ready, more: rotated('11') }),
    cluster({ ready, more: rotated('11'), annotations: paused }),
    cluster({ ready: ['Unknown', 'Paused'], more: rotated('11'), annotations: paused }),
    cluster({ ready, more: rotated('12') }),
  ].map((object) => timeline.see(object).map(({ word, message }) => `${word}: ${message}`));
  expect(told).toEqual([
    ['Ready: Because of Running'],
    [],
    ['Rotated: The new password is in Secret "app-connection", and works'],
    ['Pausing: Mooring only looks and reports, and changes nothing'],
    ['Paused: Because of Paused'],
    [
      'Unpaused: Mooring makes changes again',
      'Rotated: The new password is in Secret "app-connection", and works',
      'Ready: Because of Running',
    ],
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
