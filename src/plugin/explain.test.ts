import { describe, expect, it } from 'vitest';
import { anItem } from '../../test/support/items.ts';
import { TRY_AGAIN_MS } from '../kinds/database/sources/observe-sources.ts';
import { NOT_WATCHED } from '../kinds/namespaces.ts';
import { styleFor } from './command-line/text.ts';
import { explainText, explanationOf } from './explain.ts';
import type { Item } from './item.ts';
import { reasonHelp, rowsIn } from './reasons.ts';

/** Another object, in a namespace of its own. */
const ORDERS = { name: 'orders', namespace: 'infra' };
const NOW = Date.parse('2026-11-21T11:00:00Z');
const explain = (item: Item, items: readonly Item[] = [item]) =>
  explainText({ items, hidden: new Set() }, item, NOW, styleFor(false));

describe('explainText()', () => {
  it('gives the message, the remedy of the document, the last error verbatim, and what differs', () => {
    const item = anItem('DatabaseCluster', 'shop/orders', {
      ready: ['False', 'ClusterMissing', 'Cluster "orders" has vanished'],
      stalled: true,
      spec: { machineType: 'large' },
      status: {
        state: 'running',
        drift: [{ field: 'machineType', desired: 'large', observed: 'small' }],
        lastError: {
          operation: 'Deploy',
          httpStatus: 400,
          code: 'Q1',
          message: 'No payment',
          time: '2026-11-21T10:59:00Z',
        },
      },
    });
    const text = explain(item);
    expect(text).toContain('DatabaseCluster shop/orders: Ready is False ClusterMissing (False for 60m)');
    expect(text).toContain('Why\n  Cluster "orders" has vanished');
    expect(text).toContain('What to do\n  Restore it in the cloud');
    expect(text).toContain('Last error\n  Deploy, 60s ago: HTTP 400, code Q1\n  No payment');
    expect(text).toContain('Missing\n  machineType is small, should be large');
    expect(text).toContain('Declared\n  machineType  large');
    expect(text).toContain('a person must act first');
    expect(text).toContain(
      'kubectl annotate databasecluster.mooring.dev orders --namespace shop --overwrite mooring.dev/reconcile-at=',
    );
  });

  it('says how to let a paused object go on, even if it is Ready', () => {
    const text = explain(anItem('DatabaseCluster', 'shop/orders', { annotations: { 'mooring.dev/paused': 'true' } }));
    expect(text).toContain(
      'Paused\n  Mooring changes nothing about it until: kubectl mooring unpause databasecluster/orders --namespace shop',
    );
  });

  it('gives commands that reach the cluster which the object is in', () => {
    const replaced = [
      'False',
      'IdentityChanged',
      'Annotate mooring.dev/accept-identity=2026-11-21T10:00:00.000Z',
    ] as const;
    const going = { deleted: true, finalizers: ['mooring.dev/user'], generation: 2 };
    const items = [
      anItem('DatabaseCluster', 'shop/orders', { annotations: { 'mooring.dev/paused': 'true' } }),
      anItem('DatabaseCluster', 'shop/orders', { ready: replaced }),
      anItem('DatabaseUser', 'shop/app', { ...going, ready: ['True', 'LoginWorks', 'It works'] }),
    ];
    const commands = items.flatMap((item) => {
      const inventory = { items: [item], hidden: new Set<never>(), reach: ' --context prod' };
      return explainText(inventory, item, NOW, styleFor(false)).match(/kubectl (mooring )?(?!mooring)[a-z].*/g) ?? [];
    });
    expect(commands.map((command) => command.split(' ')[1])).toEqual([
      'mooring',
      'annotate',
      'annotate',
      'annotate',
      'patch',
    ]);
    for (const command of commands) expect(command).toMatch(/--namespace shop --context prod( |$)/);
  });

  it('says that nothing happens to a paused object before it is unpaused', () => {
    const paused = { annotations: { 'mooring.dev/paused': 'true' }, ready: ['Unknown', 'Paused', 'It is'] as const };
    expect(explain(anItem('DatabaseCluster', 'shop/orders', paused))).toContain(
      'Next try\n  Not before it is unpaused.\n',
    );
  });

  it('reports annotations that mean nothing, as status does', () => {
    const item = anItem('DatabaseCluster', 'shop/orders', { annotations: { 'mooring.dev/paused': 'True' } });
    const mistake = 'Annotation mooring.dev/paused is "True", which means nothing: write "true"';
    expect(explain(item)).toContain(`Annotations\n  ${mistake}\n`);
    expect(explanationOf({ items: [item], hidden: new Set() }, item)).toMatchObject({ mistakes: [mistake] });
  });

  it('says of an object that is not being deleted, but would be abandoned, how to undo that', () => {
    const item = anItem('DatabaseCluster', 'shop/orders', { annotations: { 'mooring.dev/abandon': 'true' } });
    expect(explain(item)).toMatch(
      /^Annotations\n {2}Annotation mooring.dev\/abandon is "true", so deleting this object removes only .* kubectl annotate databasecluster.mooring.dev orders --namespace=shop mooring.dev\/abandon-$/m,
    );
  });

  it('gives the whole command that takes over a cluster which replaced another', () => {
    const message =
      'It is left alone. To take it over, annotate mooring.dev/accept-identity=2026-11-21T10:00:00.000Z, but there is "b"';
    const item = anItem('DatabaseCluster', 'shop/orders', { ready: ['False', 'IdentityChanged', message] });
    expect(explain(item)).toContain(
      '  To take it over: kubectl annotate databasecluster.mooring.dev orders --namespace shop --overwrite mooring.dev/accept-identity=2026-11-21T10:00:00.000Z\n',
    );
  });

  it.each([
    ['Drifted', undefined, 'Not by itself: a person must act first.'],
    ['WaitingForServer', 'reconciling', 'By itself, as soon as what it waits for happens.'],
    ['CloudUnreachable', 'reconciling', 'By itself, after pauses that grow from 1 second to 5 minutes.'],
    ['ClusterIDInUse', 'stalled', 'By itself only now and then'],
    ['InvalidSpec', 'stalled', 'Once that is corrected.'],
  ] as const)('says when an object is tried next that says %s', (reason, also, pace) => {
    const how = also === undefined ? {} : { [also]: true };
    const item = anItem('DatabaseCluster', 'shop/orders', { ready: ['False', reason, 'Why'], ...how });
    expect(explain(item)).toContain(`Next try\n  ${pace}`);
  });

  it('does not say that nothing is needed for the deletion of an object that a person must unblock', () => {
    const ready = ['False', 'DeletionBlocked', 'It does not admit namespace "shop"'] as const;
    expect(explain(anItem('DatabaseUser', 'shop/app', { ready, reconciling: true, deleted: true }))).toContain(
      'Next try\n  By itself if what is in the way changes, and otherwise only now and then: a person must act first.',
    );
  });

  it('gives the same time for the next try of a refused schema as its message', () => {
    const ready = ['False', 'SchemaRefused', `and the same again every ${TRY_AGAIN_MS / 60_000} minutes`] as const;
    expect(explain(anItem('Database', 'shop/orders', { ready, stalled: true }))).toContain(
      `Next try\n  By itself every ${TRY_AGAIN_MS / 60_000} minutes: a person must act first.`,
    );
  });

  it('does not refer to the message, which is shown above, unless there is more to do', () => {
    const refused = { ready: ['False', 'RefusedByServer', 'Too short: write more'] as const, stalled: true };
    const user = anItem('DatabaseUser', 'shop/app', refused);
    expect(explain(user)).not.toContain('What to do');
    expect(explanationOf({ items: [user], hidden: new Set() }, user)).toMatchObject({ whatToDo: [] });
    const invalid = { ready: ['False', 'InvalidSpec', 'spec.region cannot be so'] as const, stalled: true };
    expect(explain(anItem('DatabaseCluster', 'shop/orders', invalid))).toContain(
      'What to do\n  Correct the field that the message names; or, where it cannot change and nothing was created yet, delete the object and apply it anew',
    );
  });

  it('says what to do about a schema that was refused, as its message only quotes the server', () => {
    const refused = { ready: ['False', 'SchemaRefused', 'this was refused: inline/0: no'] as const, stalled: true };
    expect(explain(anItem('Database', 'shop/orders', refused))).toContain('What to do\n  Correct the source');
  });

  it('does not advise deleting an object with an existing cluster, as that may destroy it', () => {
    const refused = { ready: ['False', 'RefusedByCloud', 'Too large'] as const, stalled: true };
    expect(explain(anItem('DatabaseCluster', 'shop/orders', refused))).toContain(
      'such as version, while no cluster was created: delete the object and apply it again',
    );
  });

  it('follows the cause to the object that is really in the way', () => {
    const space = anItem('DatabaseSpace', 'shop/production', {
      ready: ['False', 'CredentialsInvalid', 'Secret "cloud" is refused'],
      stalled: true,
    });
    const cluster = anItem('DatabaseCluster', 'shop/orders', {
      spec: { spaceRef: { name: 'production' } },
      ready: ['Unknown', 'WaitingForSpace', 'Waiting for the space'],
    });
    const text = explain(cluster, [space, cluster]);
    expect(text).toContain('Comes from\n  DatabaseSpace shop/production: Ready is False CredentialsInvalid');
    expect(text).toContain('What to do\n  For DatabaseSpace shop/production: Correct client id and client secret');
  });

  it.each([
    ['DatabaseUser', 'ClusterNotFound', `Waiting for DatabaseCluster "orders": ${NOT_WATCHED}`, { clusterRef: ORDERS }],
    ['DatabaseCluster', 'SpaceNotFound', `Waiting for its DatabaseSpace: ${NOT_WATCHED}`, { spaceRef: ORDERS }],
    ['Database', 'ClusterNotFound', 'Waiting for it: create it, or check clusterRef', { clusterRef: ORDERS }],
    ['DatabaseCluster', 'DeletionBlocked', 'It does not admit namespace "shop": have it added', { spaceRef: ORDERS }],
  ])('advises for a %s with %s nothing else than its message does', (kind, reason, message, spec) => {
    const item = anItem(kind, 'shop/app', { spec, ready: ['Unknown', reason, message] });
    const refused = { ready: ['False', 'RefusedByCloud', 'Too large'] as const, stalled: true };
    // Only what is not watched may be in any state without being in the way.
    const states = message.includes(NOT_WATCHED) ? [{}, refused] : [{}];
    for (const state of states) {
      const there = ['DatabaseSpace', 'DatabaseCluster'].map((each) => anItem(each, 'infra/orders', state));
      const text = explain(item, [item, ...there]);
      expect(text).toContain(`Why\n  ${message}\n`);
      expect(text).not.toMatch(/What to do|Comes from/);
    }
  });

  it('leaves out causes that are Ready', () => {
    const space = anItem('DatabaseSpace', 'shop/production', { ready: ['True', 'Observed', 'It is observed'] });
    const cluster = anItem('DatabaseCluster', 'shop/orders', {
      spec: { spaceRef: { name: 'production' } },
      ready: ['False', 'RefusedByCloud', 'Too large'],
      stalled: true,
    });
    const user = anItem('DatabaseUser', 'shop/app', {
      spec: { clusterRef: { name: 'orders' } },
      ready: ['Unknown', 'WaitingForCluster', 'Waiting for the cluster'],
    });
    const text = explain(user, [space, cluster, user]);
    expect(text).toContain('Comes from\n  DatabaseCluster shop/orders: Ready is False RefusedByCloud: Too large\n\n');
    expect(text).not.toContain('DatabaseSpace shop/production');
  });

  it('says what was before if nobody has looked yet, and that no operator seems to be running', () => {
    const works = ['True', 'LoginWorks', 'User "app" signs in'] as const;
    const item = anItem('DatabaseUser', 'shop/app', { generation: 2, deleted: true, ready: works });
    const operator = 'No operator seems to be running: it is so';
    const text = explainText({ items: [item], hidden: new Set(), operator }, item, NOW, styleFor(false));
    expect(text).toBe(`DatabaseUser shop/app: not looked at yet

Why
  It is being deleted, and Mooring has not looked at that yet: is the operator running, and does it watch this namespace? Or does an Event StatusRefused of the object say why its status cannot be written?
  Before that, Ready was True LoginWorks: User "app" signs in
  ${operator}

Deletion
  Deletion began 30m ago
`);
    const json = explanationOf({ items: [item], hidden: new Set(), operator }, item);
    expect(json).toMatchObject({ ready: 'Unknown', reason: 'NotSeen', operator, missing: [], nextTry: [] });
  });

  it('says how to let go of an object whose operator has not looked at it for a minute, as an annotation needs one', () => {
    const works = ['True', 'LoginWorks', 'User "app" signs in'] as const;
    const finalizers = ['mooring.dev/user'];
    const item = anItem('DatabaseUser', 'shop/app', { generation: 2, deleted: true, finalizers, ready: works });
    const patch = `kubectl patch databaseuser.mooring.dev app --namespace shop --type=merge --patch='{"metadata":{"finalizers":[]}}'`;
    expect(explain(item)).toContain(`
  If no operator will act here again, this removes the object, and leaves what it stands for as it is: ${patch}
`);
    const soon = Date.parse('2026-11-21T10:30:59Z');
    expect(explainText({ items: [item], hidden: new Set() }, item, soon, styleFor(false))).not.toContain(
      'kubectl patch',
    );
    const audited = { ...item, metadata: { ...item.metadata, finalizers: [...finalizers, 'example.com/audit'] } };
    expect(explain(audited)).toContain(`--patch='{"metadata":{"finalizers":["example.com/audit"]}}'\n`);
  });

  it('says once what is missing, as a sentence', () => {
    const conditions = (ready: readonly [string, string, string], ...more: readonly (readonly string[])[]) =>
      [['Ready', ...ready], ...more].map(([type, status, reason, message]) => ({
        ...{ type, status, reason, message, observedGeneration: 1 },
        lastTransitionTime: '2026-11-21T10:00:00Z',
      }));
    const missing = (status: object) =>
      explain(anItem('DatabaseCluster', 'shop/orders', { status })).match(/Missing\n([\s\S]*?)\n(\n|$)/)?.[1];
    const differs = 'Cluster "orders": storageSizeGB is 100, should be 50';
    const cannot = 'Cluster "orders" is too large';
    const drift = [{ field: 'storageSizeGB', desired: '50', observed: '100' }];
    expect(
      missing({
        drift,
        conditions: conditions(
          ['False', 'StorageCannotShrink', cannot],
          ['Synced', 'False', 'Differs', differs],
          ['Available', 'False', 'StorageCannotShrink', cannot],
        ),
      }),
    ).toBe(`  Synced is False (Differs): ${differs}\n  Available is False (StorageCannotShrink), for the same reason`);
    const rests = conditions(
      ['True', 'Suspended', 'It rests'],
      ['Available', 'False', 'Suspended', 'It rests: no server'],
    );
    expect(missing({ conditions: rests })).toBeUndefined();
  });

  it('warns about what will not stay as it is, with what to do', () => {
    const message = 'The space is observed, but Secret "cloud-admin" is being deleted';
    const text = explain(anItem('DatabaseSpace', 'shop/production', { ready: ['True', 'SecretDeleting', message] }));
    expect(text).toContain(`Why\n  ${message}`);
    expect(text).toContain('What to do\n  Put its contents into a Secret of another name');
  });

  it('says of an object being deleted since when, what holds it, and how to let it go', () => {
    const item = anItem('DatabaseCluster', 'shop/orders', {
      deleted: true,
      finalizers: ['mooring.dev/cluster', 'example.com/audit'],
      ready: ['Unknown', 'CloudUnreachable', 'Cannot destroy it'],
    });
    expect(explain(item)).toContain(`
Deletion
  Deletion began 30m ago, and the object is held by mooring.dev/cluster, example.com/audit
  Mooring holds it until its work there is done. To remove it at once, and leave what it stands for as it is: kubectl annotate databasecluster.mooring.dev orders --namespace shop mooring.dev/abandon=true
  Held by others, not by Mooring: example.com/audit
`);
    expect(explanationOf({ items: [item], hidden: new Set() }, item)).toMatchObject({
      deletedAt: '2026-11-21T10:30:00Z',
      finalizers: ['mooring.dev/cluster', 'example.com/audit'],
    });
  });

  it.each([
    ['may have no effect', ['Unknown', 'KubernetesForbidden', 'Cannot patch it'], 1],
    ['has no effect', ['True', 'Running', 'It runs'], 0],
    [undefined, ['Unknown', 'CloudUnreachable', 'Cannot destroy it'], 1],
  ] as const)('says that abandoning an object %s without rights: Ready was %s', (says, ready, observedGeneration) => {
    const item = anItem('DatabaseCluster', 'shop/orders', {
      deleted: true,
      finalizers: ['mooring.dev/cluster'],
      ready,
      status: { observedGeneration },
    });
    const line = /abandon=true\n {2}That (.*) while no operator runs, or it lacks a right in this namespace: .*Role/;
    expect(line.exec(explain(item))?.[1]).toBe(says);
  });

  it('does not say of what was not asked that it had no answer', () => {
    const failed = (operation: string, more: object = {}) =>
      explain(
        anItem('DatabaseSpace', 'shop/production', {
          ready: ['False', 'SecretKeyMissing', 'Secret "cloud" has no key'],
          status: { lastError: { operation, message: 'Odd', time: '2026-11-21T10:59:00Z', ...more } },
        }),
      ).match(/Last error\n {2}(.*)/)?.[1];
    expect(failed('Reconcile')).toBe('Reconcile, 60s ago');
    expect(failed('Reconcile', { httpStatus: 500 })).toBe('Reconcile, 60s ago: HTTP 500');
    expect(failed('list')).toBe('list, 60s ago: no answer');
    const held = 'Cannot deploy cluster "orders": not sent, because there is no API token of level write or admin';
    expect(failed('deploy', { message: held })).toBe('deploy, 60s ago: not sent');
    // All of it is shown above.
    expect(failed('Reconcile', { message: 'Secret "cloud" has no key' })).toBeUndefined();
  });

  it('says nothing of a Ready object that is not the case', () => {
    const text = explain(anItem('Database', 'shop/orders', { spec: { name: 'orders' } }));
    expect(text).not.toMatch(/What to do|Last error|Missing|Next try|Comes from/);
  });

  it('gives programs the same', () => {
    const waiting = ['Unknown', 'WaitingForCluster', 'It waits'] as const;
    const item = anItem('DatabaseUser', 'shop/app', { spec: { clusterRef: { name: 'orders' } }, ready: waiting });
    expect(explanationOf({ items: [item], hidden: new Set() }, item)).toMatchObject({
      kind: 'DatabaseUser',
      ready: 'Unknown',
      paused: false,
      blockedBy: { name: 'DatabaseCluster shop/orders', reason: 'NotThere' },
      whatToDo: ['Create DatabaseCluster shop/orders, or correct the reference to it'],
      comesFrom: ['DatabaseCluster shop/orders: it does not exist'],
      lastError: null,
      spec: { clusterRef: { name: 'orders' } },
    });
  });
});

describe('reasonHelp()', () => {
  it('finds the row for the kind if a reason means different things', () => {
    expect(reasonHelp('DatabaseSpace', 'SpaceNotFound')?.remedy).toContain('teamID');
    expect(reasonHelp('DatabaseCluster', 'SpaceNotFound')?.chapter).toBe('Waiting for something else');
  });

  it('advises another clone only where there is a clone', () => {
    const { remedy } = reasonHelp('DatabaseCluster', 'DefaultLoginRefused') ?? {};
    expect(remedy).toContain('if this is a clone, make another one');
  });

  it('has nothing for a word that is not in the document', () => {
    expect(reasonHelp('DatabaseCluster', 'NoSuchReason')).toBeUndefined();
    expect(reasonHelp('DatabaseCluster', 'Ready', rowsIn(''))).toBeUndefined();
  });
});
