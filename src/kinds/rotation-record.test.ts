import { expect, test } from 'vitest';
import { ROTATE_AT } from '../kube/annotations.ts';
import { ROTATION_ANNOTATIONS } from './rotation.ts';
import { madeBefore, recordOf } from './rotation-record.ts';

const NOW_MS = Date.parse('2026-11-20T12:00:00Z');
const BEFORE = '2026-11-20T10:00:00.000Z';
const MADE = '2026-11-20T11:59:59.000Z';

const object = (status: object, rotateAt?: string) => ({
  metadata: {
    name: 'app',
    uid: 'u',
    resourceVersion: '1',
    ...(rotateAt === undefined ? {} : { annotations: { [ROTATE_AT]: rotateAt } }),
  },
  status: { lastRotation: BEFORE, ...status },
});
const asked = recordOf(object({}), { lastRotation: MADE, lastHandledRotateAt: '1' });
const again = recordOf(object({ lastHandledRotateAt: '1' }), { lastRotation: MADE, lastHandledRotateAt: '2' });
const bySchedule = recordOf(object({}), { lastRotation: MADE, lastHandledRotateAt: null });

test.each<{ what: string; status?: object; at?: string; every?: string; record: string | undefined; told?: object }>([
  {
    what: 'what was asked for, which the status does not say',
    at: '1',
    record: asked,
    told: { lastRotation: MADE, lastHandledRotateAt: '1' },
  },
  {
    what: 'half of which the status says',
    status: { lastRotation: MADE },
    at: '1',
    record: asked,
    told: { lastHandledRotateAt: '1' },
  },
  { what: 'one on schedule', every: '1h', record: bySchedule, told: { lastRotation: MADE } },
  { what: 'one on schedule that is due again', every: '1s', record: bySchedule },
  { what: 'what was asked for before', at: '2', record: asked },
  { what: 'another one since', status: { lastHandledRotateAt: '2', lastRotation: MADE }, at: '1', record: again },
  { what: 'one that the status of another object says', status: { lastRotation: undefined }, at: '2', record: again },
  { what: 'nothing', at: '1', record: undefined },
  { what: 'nothing that can be read', at: '1', record: '{' },
  { what: 'something else', at: '1', record: '{"lastRotation":[1,2]}' },
  { what: 'a time that is none', every: '1h', record: JSON.stringify({ lastRotation: [BEFORE, 'soon'] }) },
])('madeBefore() if the Secret notes $what', ({ status = {}, at, every, record, told }) => {
  const secret = { annotations: record === undefined ? {} : { [ROTATION_ANNOTATIONS.made]: record } };
  expect(madeBefore(object(status, at), every, secret, NOW_MS)).toEqual(told);
});

test('recordOf() notes nothing of a password that is no rotation', () => {
  expect(recordOf(object({}), undefined)).toBeUndefined();
});
