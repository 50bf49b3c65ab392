import { expect, test } from 'vitest';
import type { KubeObject } from '../kube/object.ts';
import type { StoreChange } from '../runtime/store.ts';
import { Gauges } from './gauges.ts';

const NOW_MS = Date.parse('2026-11-20T10:00:00Z');
const HOUR_MS = 3_600_000;

function object(spec: object, status: object): KubeObject {
  const metadata = { name: 'orders', namespace: 'shop', uid: 'u', resourceVersion: '1', generation: 1 };
  return { apiVersion: 'mooring.dev/v1alpha1', kind: 'DatabaseCluster', metadata, spec, status };
}

function condition(type: string, status: string, reason: string) {
  return { type, status, reason, message: '', observedGeneration: 1, lastTransitionTime: '2026-11-20T09:00:00Z' };
}

function theGauges(...objects: readonly KubeObject[]) {
  let nowMs = NOW_MS;
  const gauges = new Gauges(() => nowMs);
  let change: StoreChange<KubeObject> = () => {};
  gauges.watch('DatabaseCluster', {
    onChange: (handler) => {
      change = handler;
    },
  });
  objects.forEach((each, index) => {
    change(`shop/${index}`, undefined, each);
  });
  const later = (ms: number) => {
    nowMs += ms;
  };
  return { change, later, told: () => gauges.told() };
}

test.each([
  ['running', 'False', 'NotYet', 1],
  ['running', 'False', 'SecuringCredentials', 1],
  ['running', 'True', 'FactoryLoginRetired', 0],
  ['running', 'Unknown', 'ObservedOnly', 0],
  ['running', 'False', 'AdminLoginRefused', 0],
  ['starting', 'False', 'NotYet', 0],
  ['suspended', 'False', 'NotYet', 0],
])(
  'Gauges: a cluster that is %s, with CredentialsSecured %s for %s, counts %d as unsecured',
  (state, status, reason, count) => {
    const conditions = [condition('CredentialsSecured', status, reason)];
    expect(theGauges(object({}, { state, conditions })).told().unsecuredClusters).toBe(count);
  },
);

test('Gauges: what has not been looked at yet does not count as unsecured', () => {
  expect(theGauges(object({}, { observedGeneration: -1 })).told().unsecuredClusters).toBe(0);
});

const lastRotation = '2026-11-20T05:00:00.000Z';

test.each([
  ['of a cluster', { adminCredentials: { rotateEvery: '3h' } }, {}, { DatabaseCluster: 2 * HOUR_MS }],
  ['of a user', { rotateEvery: '4h' }, {}, { DatabaseCluster: HOUR_MS }],
  ['that is not due yet', { rotateEvery: '6h' }, {}, { DatabaseCluster: 0 }],
  [
    'that was last replaced while the clock was ahead',
    { rotateEvery: '1h' },
    { lastRotation: '2038-01-01T00:00:00.000Z' },
    { DatabaseCluster: 0 },
  ],
  ['that is never replaced', {}, {}, { DatabaseCluster: 0 }],
  ['that cannot be read', { rotateEvery: 'soon' }, {}, { DatabaseCluster: 0 }],
  [
    'of a cluster that is only observed by now',
    { adminCredentials: { rotateEvery: '3h' }, managementPolicy: 'Observe' },
    {},
    { DatabaseCluster: 0 },
  ],
  [
    'of a cluster that is suspended',
    { rotateEvery: '3h' },
    { conditions: [condition('Ready', 'True', 'Suspended')] },
    { DatabaseCluster: 0 },
  ],
])('Gauges: how long a password %s has been overdue', (_, spec, status, expected) => {
  expect(theGauges(object(spec, { lastRotation, ...status })).told().rotationOverdueMs).toEqual(expected);
});

test('Gauges: the most overdue password counts, and none before the first', () => {
  const all = ['3h', '2h', '4h'].map((rotateEvery) => object({ rotateEvery }, { lastRotation }));
  const { change, told } = theGauges(...all, object({ rotateEvery: '1h' }, {}));
  expect(told().rotationOverdueMs).toEqual({ DatabaseCluster: 3 * HOUR_MS });
  change('shop/1', all[1], undefined);
  expect(told().rotationOverdueMs).toEqual({ DatabaseCluster: 2 * HOUR_MS });
});

test('Gauges count conditions as objects come, change and go', () => {
  const ready = object({}, { conditions: [condition('Ready', 'True', 'Running')] });
  const stalled = object(
    {},
    { conditions: [condition('Ready', 'False', 'Failed'), condition('Stalled', 'True', 'X')] },
  );
  const { change, told } = theGauges(ready, ready, ready);
  const counts = () =>
    [...told().resources].map(({ kind, condition, status, reason, count }) =>
      [kind, condition, status, reason, count].join(' '),
    );
  expect(counts()).toEqual(['DatabaseCluster Ready True Running 3']);
  change('shop/0', ready, stalled);
  change('shop/1', ready, undefined);
  expect(counts()).toEqual([
    'DatabaseCluster Ready True Running 1',
    'DatabaseCluster Ready False Failed 1',
    'DatabaseCluster Stalled True X 1',
  ]);
  change('shop/0', stalled, ready);
  expect(counts()).toEqual(['DatabaseCluster Ready True Running 2']);
});

function unready(reason: string, sinceTime = '2026-11-20T09:00:00Z', status = 'False'): KubeObject {
  return object({}, { conditions: [{ ...condition('Ready', status, reason), lastTransitionTime: sinceTime }] });
}

const kind = 'DatabaseCluster';

test('Gauges: of the objects that are unready for one reason, the one that has been for longest counts', () => {
  const all = [unready('A'), unready('A', '2026-11-20T07:00:00Z'), unready('B', '2026-11-20T09:59:00Z', 'Unknown')];
  const ready = object({}, { conditions: [condition('Ready', 'True', 'Running')] });
  const { change, told } = theGauges(...all, ready, object({}, {}));
  expect(told().unready).toEqual([
    { kind, reason: 'A', longestMs: 3 * HOUR_MS },
    { kind, reason: 'B', longestMs: 60_000 },
  ]);
  change('shop/1', all[1], ready);
  change('shop/2', all[2], undefined);
  expect(told().unready).toEqual([{ kind, reason: 'A', longestMs: HOUR_MS }]);
});

test('Gauges: an object stays unready, whatever the reason, and whether that is certain', () => {
  const first = unready('A');
  const { change, told } = theGauges(first);
  const second = unready('B', '2026-11-20T09:30:00Z', 'Unknown');
  change('shop/0', first, second);
  expect(told().unready).toEqual([{ kind, reason: 'B', longestMs: HOUR_MS }]);
  const another = { ...second, metadata: { ...second.metadata, uid: 'another' } };
  change('shop/0', second, another);
  expect(told().unready).toEqual([{ kind, reason: 'B', longestMs: HOUR_MS / 2 }]);
});

test.each(['Paused', 'ClusterSuspended'])('Gauges: the time that an object was %s does not count', (reason) => {
  const [resting, going] = [unready(reason), unready('WaitingForCluster')];
  const { change, later, told } = theGauges(resting);
  change('shop/0', resting, unready(reason));
  expect(told().unready).toEqual([]);
  change('shop/0', resting, going);
  later(60_000);
  expect(told().unready).toEqual([{ kind, reason: 'WaitingForCluster', longestMs: 60_000 }]);
  change('shop/0', going, unready('ServerUnavailable'));
  expect(told().unready).toEqual([{ kind, reason: 'ServerUnavailable', longestMs: 60_000 }]);
});

test('Gauges: an object that became unready while the clock was ahead has been for no time', () => {
  expect(theGauges(unready('A', '2038-01-01T00:00:00Z')).told().unready).toEqual([{ kind, reason: 'A', longestMs: 0 }]);
});
