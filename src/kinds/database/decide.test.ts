import { describe, expect, it } from 'vitest';
import { CREATED_AT, conditionOf, NOW_MS, outline } from '../../../test/support/builders.ts';
import {
  aDatabase,
  aSchema,
  aServer,
  type DatabaseBuilder,
  FOUND,
  NOT_ALLOWED,
  noServer,
  SOURCES,
} from '../../../test/support/database-builders.ts';
import { decideDatabase } from './decide.ts';
import type { DatabaseObservation } from './observation.ts';
import { hashOf } from './sources/schema-digest.ts';
import { planSchema } from './sources/schema-plan.ts';

const decide = ({ subject }: DatabaseBuilder, seen: DatabaseObservation) => decideDatabase(subject, seen, NOW_MS);
const stalledSlowly = (reason: string) => ({
  ready: `False ${reason}`,
  summary: 'Stalled',
  steps: [],
  comesBack: 'slowly',
});
const waits = (reason: string) => ({
  ready: `Unknown ${reason}`,
  summary: 'Reconciling',
  steps: [],
  comesBack: 'when something changes',
});
const readyAgainIn = (comesBack: string) => ({ ready: 'True DatabaseReady', summary: 'none', steps: [], comesBack });
const ABSENCE = { since: CREATED_AT, forMs: 4_999, againInMs: 1_000 };
const AS_BEFORE = { ready: 'as before', summary: 'none', steps: [], comesBack: 'when something changes' };
const atOnce = (ready: string) => ({ ready, summary: 'Reconciling', steps: [], comesBack: '0 ms' });
const does = (ready: string, step: string) => ({
  ready,
  summary: 'Reconciling',
  steps: [step],
  comesBack: 'when something changes',
});
const CHANGED = SOURCES.map((source, position) => (position === 1 ? { ...source, hash: hashOf('changed') } : source));

/** The dry run of what should be run now ended this way. */
function tried(
  database: DatabaseBuilder,
  seen: ReturnType<typeof aSchema>,
  outcome: 'Succeeded' | 'Failed',
): DatabaseBuilder {
  const { schema } = seen;
  if (schema.schema !== 'seen') throw new Error('No schema was seen');
  const plan = planSchema(database.subject.status, schema.sources, schema.found);
  const message = 'inline/1: Type nothing is not defined';
  return database.withStatus({ checkedSchema: { hash: plan?.digest ?? '', outcome, message } });
}

describe('A Database whose cluster cannot be worked on', () => {
  it.each([
    ['is missing', noServer('missing'), waits('ClusterNotFound')],
    ['is going', noServer('leaving'), waits('ClusterDeleting')],
    ['is suspended', noServer('suspended'), waits('ClusterSuspended')],
    ['is not ready', noServer('notReady'), waits('WaitingForCluster')],
    ['does not admit it', NOT_ALLOWED, stalledSlowly('ClusterNotAllowed')],
  ])('waits: it %s', (_what, seen, expected) => {
    expect(outline(decide(aDatabase(), seen))).toEqual(expected);
    expect(outline(decide(aDatabase().applied().withReady('True', 'DatabaseReady'), seen))).toEqual(expected);
  });

  it('is told what to do if its cluster goes for good', () => {
    const messageOf = (seen: ReturnType<typeof aServer> | ReturnType<typeof noServer>) =>
      conditionOf(decide(aDatabase(), seen), 'Ready')?.message;
    for (const seen of [noServer('leaving'), aServer({ existence: 'absent', leaving: true })])
      expect(messageOf(seen)).toMatch(/: delete this object too, unless another DatabaseCluster of that name follows$/);
    expect(messageOf(noServer('suspended'))).not.toContain('delete');
  });

  it('stays as it was while this process has just begun, and only then', () => {
    const starting = noServer('notReady', { starting: true });
    expect(outline(decide(aDatabase().applied().withReady('True', 'DatabaseReady'), starting))).toEqual(AS_BEFORE);
    expect(outline(decide(aDatabase(), starting))).toEqual(waits('WaitingForCluster'));
  });

  it('is as it should be if the cluster is suspended as its spec says, and nothing has changed since', () => {
    const resting = noServer('suspended', { rests: true, foundRight: true });
    const isWell = { ready: 'True ClusterSuspended', summary: 'none', steps: [], comesBack: 'when something changes' };
    for (const reason of ['DatabaseReady', 'ClusterSuspended'])
      expect(outline(decide(aDatabase().applied().withReady('True', reason), resting))).toEqual(isWell);
    const was = aDatabase().applied().withReady('True', 'DatabaseReady');
    for (const [database, seen] of [
      [was, { ...resting, foundRight: false }],
      [was, { ...resting, rests: false }],
    ] as const)
      expect(outline(decide(database, seen))).toEqual(waits('ClusterSuspended'));
  });

  it('keeps what is known of its schema', () => {
    const synced = {
      type: 'Synced',
      status: 'True',
      reason: 'SchemaApplied',
      message: '',
      lastTransitionTime: '',
    } as const;
    const known = aDatabase()
      .applied()
      .withStatus({ conditions: [synced] });
    const resting = noServer('suspended', { rests: true, foundRight: true });
    for (const seen of [noServer('suspended'), resting, NOT_ALLOWED])
      expect(conditionOf(decide(known, seen), 'Synced')).toMatchObject({ reason: 'SchemaApplied' });
    const changed = { ...noServer('suspended'), areSourcesChanged: true };
    expect(conditionOf(decide(known, changed), 'Synced')).toMatchObject({ status: 'Unknown', reason: 'SchemaPending' });
    const changedBack = aDatabase()
      .applied()
      .withStatus({ conditions: [{ ...synced, status: 'Unknown', reason: 'SchemaPending' }] });
    const asApplied = { ...noServer('suspended'), areSourcesChanged: false };
    expect(conditionOf(decide(changedBack, asApplied), 'Synced')).toMatchObject({
      status: 'True',
      reason: 'SchemaApplied',
    });
    const unmanaged = known.with({ schema: undefined });
    expect(conditionOf(decide(unmanaged, changed), 'Synced')).toMatchObject({ reason: 'SchemaNotManaged' });
    // What is not so stays not so.
    const failing = aDatabase()
      .applied()
      .withStatus({ conditions: [{ ...synced, status: 'False', reason: 'SchemaRefused' }] });
    for (const seen of [changed, asApplied])
      expect(conditionOf(decide(failing, seen), 'Synced')).toMatchObject({ reason: 'SchemaRefused' });
  });
});

describe('Ownership of a database', () => {
  const adopting = aDatabase().with({ adoptionPolicy: 'IfExists' });
  const absent = aServer({ existence: 'absent' });
  const notAttempted = aServer({ attemptedAtMs: undefined });
  it.each([
    [
      'absent, and nothing was done: the intention to create it is recorded',
      aDatabase(),
      absent,
      atOnce('Unknown CreatingDatabase'),
    ],
    [
      'absent, and the intention to create it is recorded',
      aDatabase().announced(),
      absent,
      does('Unknown CreatingDatabase', 'CreateDatabase'),
    ],
    ['absent though it was ours: it was deleted', aDatabase().owned(), absent, atOnce('False DatabaseVanished')],
    [
      'absent though it was ours, since a moment ago: it is looked for',
      aDatabase().owned(),
      aServer({ existence: 'absent', absence: ABSENCE }),
      { ready: 'False NotFound', summary: 'Reconciling', steps: [], comesBack: '1000 ms' },
    ],
    [
      'absent though it was ours, and the intention to create it again is recorded',
      aDatabase().announced().owned(),
      absent,
      does('False DatabaseVanished', 'CreateDatabase'),
    ],
    [
      'there again, after it was ours and before another was asked for',
      aDatabase().announced().owned(),
      notAttempted,
      atOnce('Unknown CreatingDatabase'),
    ],
    [
      'absent, and the server just said that it created it',
      aDatabase().announced(),
      aServer({ existence: 'absent', doneAtMs: NOW_MS - 19_999 }),
      { ready: 'Unknown CreatingDatabase', summary: 'Reconciling', steps: [], comesBack: 'soon' },
    ],
    [
      'absent, and the server said 20 seconds ago that it created it',
      aDatabase().announced(),
      aServer({ existence: 'absent', doneAtMs: NOW_MS - 20_000 }),
      does('Unknown CreatingDatabase', 'CreateDatabase'),
    ],
    [
      'absent, and the server said that it created it when the clock was ahead',
      aDatabase().announced(),
      aServer({ existence: 'absent', doneAtMs: NOW_MS + 1 }),
      does('Unknown CreatingDatabase', 'CreateDatabase'),
    ],
    [
      'there, and creating it was recorded and may have been tried',
      aDatabase().announced(),
      aServer(),
      atOnce('Unknown CreatingDatabase'),
    ],
    [
      'there, and creating it was recorded and certainly not tried',
      aDatabase().announced(),
      notAttempted,
      stalledSlowly('DatabaseExists'),
    ],
    ['there before us', aDatabase(), aServer(), stalledSlowly('DatabaseExists')],
    ['there before us, to be taken over', adopting, aServer(), atOnce('Unknown AdoptingDatabase')],
    ['ours', aDatabase().owned(), aServer(), readyAgainIn('600000 ms')],
    [
      'of the cluster that was there before this one',
      aDatabase().owned(),
      aServer({ identity: 'later' }),
      stalledSlowly('DatabaseExists'),
    ],
    [
      'recorded for the cluster that was there before this one',
      aDatabase().announced(),
      aServer({ identity: 'later' }),
      stalledSlowly('DatabaseExists'),
    ],
    [
      'claimed by another object',
      aDatabase(),
      aServer({ existence: 'notLooked', claimedBy: 'shop/older' }),
      stalledSlowly('DatabaseClaimed'),
    ],
    [
      'absent, on a cluster that is being deleted',
      aDatabase(),
      aServer({ existence: 'absent', leaving: true }),
      waits('ClusterDeleting'),
    ],
    [
      'as it was at the last look',
      aDatabase().owned(),
      aServer({ existence: 'settled' }),
      { ...AS_BEFORE, comesBack: '600000 ms' },
    ],
  ])('%s', (_what, database, seen, expected) => {
    expect(outline(decide(database, seen))).toEqual(expected);
  });

  it.each([
    ['absent', aDatabase(), absent],
    ['absent, and announced', aDatabase().announced(), absent],
    ['absent, on a cluster that is being deleted', aDatabase(), aServer({ existence: 'absent', leaving: true })],
    ['taken over', adopting, aServer()],
    ['there before us', aDatabase(), aServer()],
    ['there, and the status was edited', aDatabase().owned().withStatus({ name: 'edited' }), aServer()],
    ['on another cluster', aDatabase().owned(), aServer({ identity: 'later' })],
    ['claimed', aDatabase(), aServer({ claimedBy: 'shop/older' })],
    ['with a name that no server accepts', aDatabase().with({ name: 'orders.eu' }), aServer({ name: 'orders.eu' })],
  ])('is open while its schema waits: %s', (_what, database, seen) => {
    expect(conditionOf(decide(database.withSchema(), seen), 'Synced')).toMatchObject({ reason: 'SchemaPending' });
  });

  it('does not lose Ready in the first five seconds in which it is not to be seen', () => {
    const mayPass = (forMs: number) =>
      decide(aDatabase().owned(), aServer({ existence: 'absent', absence: { ...ABSENCE, forMs } })).mayPass;
    expect([mayPass(0), mayPass(4_999), mayPass(5_000)]).toEqual([true, true, false]);
  });

  it.each([
    ['that was ours stays until another is asked for', aDatabase().applied(), absent],
    ['that is there again stays', aDatabase().announced().applied(), notAttempted],
  ])('What is known of a database %s', (_what, database, seen) => {
    const { status } = decide(database, seen);
    expect(status).toBeDefined();
    expect(Object.keys(status ?? {})).not.toContain('name');
    expect(Object.keys(status ?? {})).not.toContain('appliedSchema');
  });

  it('is asked for by its name, on the cluster that it was recorded for', () => {
    const { steps } = decide(aDatabase().announced(), absent);
    expect(decide(aDatabase(), absent).announces).toEqual(steps);
    expect(steps).toEqual([{ do: 'CreateDatabase', name: 'orders', identity: CREATED_AT }]);
  });

  it.each([
    ['created', aDatabase().announced(), 'was created'],
    ['taken over', adopting, 'is taken over, with its data'],
  ])('is recorded once it was %s, and nothing is known of its schema', (_how, database, words) => {
    const decision = decide(database, aServer());
    expect(decision.status).toMatchObject({ name: 'orders', cluster: CREATED_AT, operation: null, schemaHash: null });
    expect(conditionOf(decision, 'Ready')?.message).toContain(words);
  });

  it.each([
    ['says so if its status was edited', aDatabase().owned().withStatus({ name: 'edited' }), aServer(), /"edited"/],
    ['says on which cluster its own is', aDatabase().owned(), aServer({ identity: 'later' }), /is on the cluster/],
  ])('stays recorded if it is not recognized, and it %s', (_what, database, seen, message) => {
    const decision = decide(database, seen);
    expect(outline(decision)).toEqual(stalledSlowly('DatabaseExists'));
    expect(conditionOf(decision, 'Ready')?.message).toMatch(message);
    expect(decision.status).toBeUndefined();
  });

  it("is forgotten if it is somebody else's, and nothing was recorded of another one", () => {
    const decision = decide(aDatabase(), aServer());
    expect(decision.status).toMatchObject({ name: null, operation: null });
    expect(conditionOf(decision, 'Ready')?.message).toMatch(
      /but this object did not create it: it is left alone\. Create/,
    );
  });

  it('needs no server that nobody asked for', () => {
    expect(decide(aDatabase(), { server: 'notNeeded' })).toEqual({ conditions: 'keep' });
  });

  it('is reported before the finalizer could be missing', () => {
    expect(decide(aDatabase(), absent).hold).toBe(true);
    expect(decide(adopting, aServer()).hold).toBe(true);
    expect(decide(aDatabase(), aServer()).hold).toBeUndefined();
  });

  it('is recorded with its cluster, and what was known of another one is forgotten', () => {
    const { status } = decide(aDatabase().applied(), aServer({ existence: 'absent', identity: 'later' }));
    expect(status).toMatchObject({ name: null, cluster: 'later', appliedSchema: null, schemaHash: null });
    expect(status?.operation).toEqual({
      type: 'CreateDatabase',
      target: 'orders',
      startedAt: '2026-11-20T12:00:00.000Z',
      by: 'this-process',
    });
  });

  it.each(['orders.eu', 'cafe\u0301'])(
    'cannot be asked for with a name that no server accepts, or may not find again: %s',
    (name) => {
      const seen = aServer({ existence: 'notLooked', name });
      const decision = decide(aDatabase().with({ name }), seen);
      expect(outline(decision)).toMatchObject({ ready: 'False InvalidDatabaseName', steps: [] });
      expect(conditionOf(decision, 'Ready')?.message).toContain('spec.name');
    },
  );

  it('keeps a name that is not composed, as its server accepted it', () => {
    const name = 'cafe\u0301';
    const database = aDatabase().with({ name }).owned().withStatus({ name });
    expect(outline(decide(database, aServer({ name })))).toMatchObject({ ready: 'True DatabaseReady' });
  });
});

describe('The schema of a database', () => {
  const fresh = aDatabase().owned().withSchema();
  const applied = aDatabase().applied();
  const changed = aSchema({ sources: CHANGED });
  const drifted = aSchema({ found: hashOf('changed elsewhere') });
  const refused = aSchema({ sources: CHANGED, tryAgainInMs: 60_000 });
  const missing = (lasting: boolean, forMs = 5_000) => {
    const why = { lasting, reason: 'ConfigMapNotFound', message: 'It is not there', forMs };
    return aServer({ schema: { schema: 'sourceMissing', ...why } });
  };

  it.each([
    ['never applied', fresh, aSchema(), does('Unknown CheckingSchema', 'TrySchema')],
    [
      'never applied, and tried',
      tried(fresh, aSchema(), 'Succeeded'),
      aSchema(),
      does('Unknown ApplyingSchema', 'ApplySchema'),
    ],
    ['applied', applied, aSchema(), readyAgainIn('600000 ms')],
    ['applied, and a source changed', applied, changed, does('Unknown CheckingSchema', 'TrySchema')],
    [
      'applied, a source changed, and tried',
      tried(applied, changed, 'Succeeded'),
      changed,
      does('Unknown ApplyingSchema', 'ApplySchema'),
    ],
    [
      'tried for sources other than the current ones',
      tried(applied, aSchema({ sources: CHANGED, found: 'x' }), 'Succeeded'),
      changed,
      does('Unknown CheckingSchema', 'TrySchema'),
    ],
    [
      'refused lately',
      tried(applied, refused, 'Failed'),
      refused,
      { ready: 'False SchemaRefused', summary: 'Stalled', steps: [], comesBack: '60000 ms' },
    ],
    [
      'refused recently, to be looked at before it is tried again',
      tried(applied, refused, 'Failed'),
      { ...refused, checkInMs: 30_000 },
      { ready: 'False SchemaRefused', summary: 'Stalled', steps: [], comesBack: '30000 ms' },
    ],
    [
      'refused some time ago, and still said to be',
      tried(applied, changed, 'Failed'),
      changed,
      { ...does('False SchemaRefused', 'TrySchema'), summary: 'Stalled' },
    ],
    ['changed elsewhere', applied, drifted, does('Unknown SchemaDrifted', 'TrySchema')],
    [
      'changed elsewhere, and tried',
      tried(applied, drifted, 'Succeeded'),
      drifted,
      does('Unknown ApplyingSchema', 'ApplySchema'),
    ],
    [
      'holding more, even after everything was run again',
      applied.withStatus({ foreignSchemaHash: hashOf('changed elsewhere') }),
      drifted,
      readyAgainIn('600000 ms'),
    ],
    [
      'applied, and not looked at since',
      applied.withStatus({ schemaHash: undefined }),
      aSchema(),
      readyAgainIn('600000 ms'),
    ],
    [
      'without one of its sources',
      fresh,
      missing(false),
      { ready: 'Unknown ConfigMapNotFound', summary: 'Reconciling', steps: [], comesBack: 'slowly' },
    ],
    [
      'without one of its sources for a moment',
      applied,
      missing(false, 2_000),
      { ready: 'Unknown ConfigMapNotFound', summary: 'Reconciling', steps: [], comesBack: '3000 ms' },
    ],
    [
      'with a source whose text is missing',
      fresh,
      missing(true, 0),
      { ready: 'False ConfigMapNotFound', summary: 'Stalled', steps: [], comesBack: 'slowly' },
    ],
    ['no longer wanted', aDatabase().applied().with({ schema: undefined }), aServer(), readyAgainIn('600000 ms')],
  ])('%s', (_what, database, seen, expected) => {
    expect(outline(decide(database, seen))).toEqual(expected);
  });

  it.each([
    ['unmanaged', aDatabase().owned(), aServer(), 'True', 'SchemaNotManaged'],
    ['applied', applied, aSchema(), 'True', 'SchemaApplied'],
    ['pending', applied, changed, 'False', 'SchemaPending'],
    ['drifted', applied, drifted, 'False', 'SchemaDrifted'],
    ['refused', tried(applied, refused, 'Failed'), refused, 'False', 'SchemaRefused'],
    [
      'differing',
      applied.withStatus({ foreignSchemaHash: hashOf('changed elsewhere') }),
      drifted,
      'False',
      'SchemaDiffers',
    ],
    ['lacking a source', applied, missing(false), 'False', 'ConfigMapNotFound'],
    ['of a database that is not ours', aDatabase().withSchema(), aServer(), 'False', 'SchemaPending'],
  ])('is reported in Synced: %s', (_what, database, seen, status, reason) => {
    expect(conditionOf(decide(database, seen), 'Synced')).toMatchObject({ status, reason });
  });

  it('is run again as far as it is new or changed, and as a whole if it was changed elsewhere', () => {
    const planOf = (database: DatabaseBuilder, seen: DatabaseObservation) => {
      const [step] = decide(database, seen).steps ?? [];
      return step?.do === 'TrySchema' ? [step.plan.because, ...step.plan.run] : [];
    };
    expect(planOf(fresh, aSchema())).toEqual(['new', 0, 1]);
    expect(planOf(applied, changed)).toEqual(['changed', 1]);
    expect(planOf(applied, drifted)).toEqual(['drift', 0, 1]);
    expect(planOf(applied, aSchema({ sources: CHANGED, found: 'other' }))).toEqual(['changed', 0, 1]);
  });

  it('says why it was refused, in the words of the server, with the name of the source', () => {
    const message = conditionOf(decide(tried(applied, refused, 'Failed'), refused), 'Ready')?.message;
    expect(message).toBe(
      'The schema stays as it was, because this was refused: inline/1: Type nothing is not defined. Correct the sources: what has changed is tried at once, and the same again every 10 minutes',
    );
  });

  it('is tried and applied on the database and the cluster that it is for', () => {
    const where = { name: 'orders', identity: CREATED_AT };
    expect(decide(fresh, aSchema()).steps).toMatchObject([{ do: 'TrySchema', ...where }]);
    expect(decide(tried(fresh, aSchema(), 'Succeeded'), aSchema()).steps).toMatchObject([
      { do: 'ApplySchema', ...where, plan: { run: [0, 1] } },
    ]);
    expect(conditionOf(decide(tried(fresh, aSchema(), 'Succeeded'), aSchema()), 'Synced')?.reason).toBe(
      'SchemaPending',
    );
  });

  it('waits to be looked at', () => {
    const decision = decide(fresh, aServer());
    expect(outline(decision)).toEqual(waits('CheckingSchema'));
    expect(conditionOf(decision, 'Synced')?.reason).toBe('SchemaPending');
  });

  it('is tried again once a refusal is old', () => {
    const now = aSchema({ sources: CHANGED, tryAgainInMs: 0 });
    expect(decide(tried(applied, now, 'Failed'), now).steps).toMatchObject([{ do: 'TrySchema' }]);
  });

  it.each([
    ['never applied', fresh, 'It is not there'],
    ['applied', applied, 'It is not there. What was applied before stays as it is'],
  ])('without one of its sources says what stays where it was %s', (_what, database, message) => {
    expect(conditionOf(decide(database, missing(false)), 'Ready')?.message).toBe(message);
  });

  it('is counted in words, and reported with the database', () => {
    const said = (database: DatabaseBuilder, seen: DatabaseObservation, type: string) =>
      conditionOf(decide(database, seen), type)?.message;
    expect(said(applied, aSchema(), 'Synced')).toMatch(/^All 2 schema sources are applied/);
    const [first] = SOURCES.map((source) => ({ ...source, appliedAt: CREATED_AT }));
    const one = applied.withStatus({ appliedSchema: first === undefined ? [] : [first] });
    expect(said(one, aSchema({ sources: SOURCES.slice(0, 1) }), 'Synced')).toMatch(/^The schema source is applied/);
    expect(said(applied, aSchema(), 'Ready')).toMatch(/"orders", and its schema is applied$/);
    expect(said(aDatabase().owned(), aServer(), 'Ready')).toMatch(/"orders"$/);
  });

  it('is remembered as it is, and any surplus only while it is there', () => {
    const foreign = hashOf('changed elsewhere');
    const statusOf = (database: DatabaseBuilder, seen: DatabaseObservation) => decide(database, seen).status;
    expect(statusOf(applied, aSchema())).toMatchObject({ operation: null, schemaHash: FOUND, foreignSchemaHash: null });
    expect(statusOf(applied.withStatus({ schemaHash: undefined }), aSchema())).toMatchObject({ schemaHash: FOUND });
    expect(statusOf(applied.withStatus({ foreignSchemaHash: foreign }), drifted)).toMatchObject({
      schemaHash: FOUND,
      foreignSchemaHash: foreign,
    });
  });

  it('does not need the finalizer again for a database that is known', () => {
    expect(decide(applied, aSchema()).hold).toBe(false);
  });

  it('is forgotten when it is no longer wanted', () => {
    const { status } = decide(applied.with({ schema: undefined }), aServer());
    expect(status).toMatchObject({ appliedSchema: null, schemaHash: null, foreignSchemaHash: null });
  });

  it('is remembered with the current versions, even if nothing was run', () => {
    const [first, second] = SOURCES;
    const sources = [{ ...first, source: 'configmap/orders-schema/base', hash: hashOf('one'), resourceVersion: '8' }];
    const { status } = decide(applied, aSchema({ sources: second === undefined ? [] : [...sources, second] }));
    expect(status?.appliedSchema).toMatchObject([{ resourceVersion: '8', appliedAt: CREATED_AT }, {}]);
    expect(status?.schemaHash).toBe(FOUND);
  });
});
