import { expect, test } from 'vitest';
import { HttpError, withheld } from '../base/transport.ts';
import { EVENTS, KubeError } from '../kube/api.ts';
import type { KubeObject } from '../kube/object.ts';
import { retrying } from '../kube/summary.ts';
import { FakeKube } from '../sandbox/fake-kube.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { createEventRecorder } from './event-recorder.ts';

function anObject(name = 'a'): KubeObject {
  const metadata = { namespace: 'ns', name, uid: `uid-of-${name}`, resourceVersion: '7' };
  return { apiVersion: 'mooring.dev/v1alpha1', kind: 'Toy', metadata, spec: {} };
}

function aRecorder() {
  const clock = virtualClock();
  const random = createSeededRandom(1);
  const api = new FakeKube({ now: clock.now, random });
  const failures: { readonly error: unknown; readonly object: KubeObject }[] = [];
  const onFailure = (error: unknown, object: KubeObject) => failures.push({ error, object });
  const recorder = createEventRecorder({ api, clock, random, instance: 'pod-1', onFailure });
  const told = () => api.all(EVENTS) as unknown as readonly Told[];
  const record = async (status: 'True' | 'False', reason: string, object = anObject()) => {
    recorder.record(object, { status, reason, message: `It is ${reason}` });
    await clock.settle();
  };
  return { clock, api, recorder, record, told, failures };
}

interface Told {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly reason: string;
  readonly note: string;
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
}

test('EventRecorder writes Events that the API accepts, Warnings if something is wrong', async () => {
  const { record, told } = aRecorder();
  await record('True', 'Running');
  await record('False', 'CloudUnreachable');
  expect(told()).toMatchObject([
    {
      metadata: { namespace: 'ns', name: expect.stringMatching(/^a\.[0-9a-f-]{13}$/) },
      eventTime: '2023-11-14T22:13:20.000000Z',
      reportingController: 'mooring.dev/mooring',
      reportingInstance: 'pod-1',
      action: 'Reconcile',
      reason: 'Running',
      type: 'Normal',
      note: 'It is Running',
      regarding: { kind: 'Toy', namespace: 'ns', name: 'a', uid: 'uid-of-a' },
    },
    { type: 'Warning', reason: 'CloudUnreachable' },
  ]);
});

test('EventRecorder keeps to the limits of the API server: bytes of a note, characters of a name', async () => {
  const { recorder, told, clock } = aRecorder();
  const name = `${'a'.repeat(238)}-${'b'.repeat(10)}`;
  recorder.record(anObject(name), { status: 'False', reason: 'Long', message: `a${'é'.repeat(2_000)}: do it` });
  recorder.record(anObject('a'.repeat(239)), { status: 'True', reason: 'Short', message: 'é' });
  await clock.settle();
  const notes = told()
    .map(({ note }) => note)
    .toSorted();
  // What to do comes last.
  expect(notes).toEqual([`a${'é'.repeat(310)}…${'é'.repeat(196)}: do it`, 'é']);
  expect(notes.map((note) => Buffer.byteLength(note))).toEqual([1_023, 2]);
  // A dash does not stand before the dot.
  expect(told().map(({ metadata }) => metadata.name.length)).toEqual([252, 253]);
  for (const { metadata } of told()) {
    expect(metadata.name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
  }
});

test('EventRecorder warns of a failure even if Ready is only unknown', async () => {
  const { recorder, told, clock } = aRecorder();
  const [ready] = retrying('CloudUnreachable', 'No answer');
  recorder.record(anObject(), ready ?? expect.unreachable());
  await clock.settle();
  expect(told()).toMatchObject([{ type: 'Warning', reason: 'CloudUnreachable' }]);
});

test('EventRecorder counts repetitions within six minutes in one Event, and begins another one later', async () => {
  const { record, told, clock } = aRecorder();
  for (const reason of ['Running', 'Updating', 'Running', 'Updating', 'Running']) {
    await record('True', reason);
    await clock.advance(60_000);
  }
  expect(told().map(({ reason, series }) => [reason, series?.count])).toEqual([
    ['Running', 3],
    ['Updating', 2],
  ]);
  expect(told()[0]?.series?.lastObservedTime).toBe('2023-11-14T22:17:20.000000Z');
  await clock.advance(360_000);
  await record('True', 'Running');
  expect(told().map(({ reason }) => reason)).toEqual(['Running', 'Updating', 'Running']);
});

test('EventRecorder writes a new Event when the Event of the series is gone', async () => {
  const { record, told, api } = aRecorder();
  await record('True', 'Running');
  const { namespace, name } = told()[0]?.metadata ?? { namespace: '', name: '' };
  api.remove(EVENTS, { namespace, name });
  await record('True', 'Running');
  expect(told().map(({ reason }) => reason)).toEqual(['Running']);
});

test('EventRecorder limits the Events of an object that goes back and forth, but not those of another one', async () => {
  const { record, told, clock } = aRecorder();
  for (let count = 0; count < 40; count++) await record('True', `Reason${count}`);
  expect(told()).toHaveLength(25);
  await record('True', 'Running', anObject('b'));
  expect(told()).toHaveLength(26);
  await clock.advance(600_000);
  for (let count = 0; count < 5; count++) await record('True', `Later${count}`);
  expect(told()).toHaveLength(28);
});

test('EventRecorder gives an object that was quiet for a long time no more Events than any other', async () => {
  const { record, told, clock } = aRecorder();
  await record('True', 'Running');
  await clock.advance(86_400_000);
  for (let count = 0; count < 40; count++) await record('True', `Reason${count}`);
  expect(told()).toHaveLength(1 + 25);
});

test('EventRecorder reports changes of Ready, however often it has warned of something else', async () => {
  const { record, recorder, told, clock } = aRecorder();
  const warn = async (reason: string) => {
    recorder.record(anObject(), { status: 'Unknown', reason, message: `It is ${reason}`, warning: true }, true);
    await clock.settle();
  };
  for (let count = 0; count < 40; count++) await warn('StatusIncomplete');
  await warn('AnnotationIgnored');
  await record('True', 'Running');
  expect(told().map(({ reason, series }) => [reason, series?.count])).toEqual([
    ['StatusIncomplete', 25],
    ['AnnotationIgnored', undefined],
    ['Running', undefined],
  ]);
});

test('EventRecorder creates an Event in the namespace of its object, as it was then', async () => {
  const { record, api } = aRecorder();
  const requests: unknown[] = [];
  Object.assign(api, {
    create: async (...given: unknown[]) => requests.push(given),
    patch: async (...given: unknown[]) => requests.push(given),
  });
  await record('True', 'Running');
  const { metadata, kind, apiVersion } = anObject();
  const event = { apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { namespace: 'ns' } };
  expect(requests).toMatchObject([[EVENTS, 'ns', { ...event, regarding: { ...metadata, kind, apiVersion } }]]);
});

test('EventRecorder counts as a repetition only the same text about the same object', async () => {
  const { recorder, told, clock } = aRecorder();
  const said = { status: 'True', reason: 'Running', message: 'It runs' } as const;
  const others = [{ status: 'Unknown' }, { reason: 'Updating' }, { message: 'It runs again' }] as const;
  for (const other of [{}, ...others]) recorder.record(anObject(), { ...said, ...other });
  recorder.record(anObject('b'), said);
  await clock.settle();
  expect(told()).toHaveLength(5);
  expect(told().every(({ series }) => series === undefined)).toBe(true);
});

test('EventRecorder creates no other Event if the series of one cannot be updated', async () => {
  const { record, api, failures, told } = aRecorder();
  await record('True', 'Running');
  const refused = new KubeError('too busy', { status: 500 });
  Object.assign(api, { patch: () => Promise.reject(refused) });
  await record('True', 'Running');
  expect([told().length, failures]).toEqual([1, [{ error: refused, object: anObject() }]]);
});

test('EventRecorder sends one Event at a time, and keeps no more than a thousand waiting', async () => {
  const { recorder, api, clock } = aRecorder();
  let [sent, inHand, most] = [0, 0, 0];
  Object.assign(api, {
    create: async () => {
      most = Math.max(most, ++inHand);
      await new Promise<void>((done) => clock.after(10, done));
      inHand--;
      sent++;
    },
  });
  for (let index = 0; index < 3_000; index++) {
    recorder.record(anObject(`toy-${index}`), { status: 'True', reason: 'Running', message: '' });
  }
  await clock.advance(60_000);
  expect([most, sent]).toEqual([1, 1_001]);
  // Once they are sent, others may wait.
  recorder.record(anObject('late'), { status: 'True', reason: 'Running', message: '' });
  await clock.advance(10);
  expect(sent).toBe(1_002);
});

test('EventRecorder reports what it cannot write and for which object, goes on, and ignores a terminating namespace', async () => {
  const { record, api, failures, told } = aRecorder();
  const create = api.create.bind(api);
  const refused = new KubeError('events is forbidden', { status: 403 });
  const terminating = new KubeError('namespace is going', { status: 403, causes: ['NamespaceTerminating'] });
  for (const error of [refused, terminating]) {
    Object.assign(api, { create: () => Promise.reject(error) });
    await record('True', error.message);
  }
  Object.assign(api, { create });
  await record('True', 'Running');
  expect(failures).toEqual([{ error: refused, object: anObject() }]);
  expect(told()).toHaveLength(1);
});

const LOST = new HttpError('lost', 'The connection broke');

/** Has each creation fail. Returns a function that counts them. */
function failing(api: object, error: Error): () => number {
  let sent = 0;
  const create = () => {
    sent++;
    return Promise.reject(error);
  };
  Object.assign(api, { create });
  return () => sent;
}

test.each([
  { how: 'is lost on its way', error: new HttpError('unreachable', 'Nobody is there') },
  { how: 'is told to wait', error: new KubeError('too many requests', { status: 429, retryAfterMs: 1_000 }) },
])('EventRecorder sends an Event again that $how, and then those that waited behind it', async ({ error }) => {
  const { record, api, told, failures, clock } = aRecorder();
  const create = api.create.bind(api);
  Object.assign(api, { create: () => Promise.reject(error) });
  await record('False', 'CloudUnreachable');
  await record('True', 'Running', anObject('b'));
  await clock.advance(10_000);
  Object.assign(api, { create });
  await clock.advance(10_000);
  expect([told().map(({ reason }) => reason), failures]).toEqual([['CloudUnreachable', 'Running'], []]);
});

test('EventRecorder writes an Event once if it arrived and only the answer was lost', async () => {
  const { record, api, told, failures, clock } = aRecorder();
  const create = api.create.bind(api);
  Object.assign(api, {
    create: async (...given: Parameters<typeof create>) => {
      await create(...given);
      throw LOST;
    },
  });
  await record('True', 'Running');
  await clock.advance(10_000);
  expect([told().length, failures]).toEqual([1, []]);
});

test.each([
  { what: 'refused', error: new KubeError('failed calling webhook', { status: 500 }), requests: 1 },
  { what: 'held back by the fence', error: withheld('another process may lead by now'), requests: 1 },
  { what: 'lost again and again', error: LOST, requests: 12 },
])('EventRecorder gives an Event up that is $what after so many requests: $requests', async ({ error, requests }) => {
  const { record, api, failures, clock } = aRecorder();
  const sent = failing(api, error);
  await record('True', 'Running');
  await clock.advance(600_000);
  expect([sent(), failures]).toEqual([requests, [{ error, object: anObject() }]]);
});

test('EventRecorder sends nothing again once it is shut down', async () => {
  const { record, recorder, api, failures } = aRecorder();
  const sent = failing(api, LOST);
  await record('True', 'Running');
  await record('True', 'Running', anObject('b'));
  await recorder.shutDown();
  expect([sent(), failures.length]).toEqual([3, 2]);
});
