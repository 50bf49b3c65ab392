import { describe, expect, it, vi } from 'vitest';
import {
  aCluster,
  anObservation,
  type ClusterBuilder,
  conditionOf,
  NOW_MS,
  outline,
} from '../../../../test/support/builders.ts';
import {
  expectOneWorkingLogin,
  type KindBench,
  type KindBenchOptions,
  kindBench,
} from '../../../../test/support/kind-bench.ts';
import { OWNER_LABEL } from '../../secrets.ts';
import { decideCluster } from '../decide.ts';
import { observeCluster } from '../observe.ts';
import type { ClusterWorld } from '../world.ts';

/* A cluster whose login could not be written anywhere is not created: it would cost money and could be entered by anybody. */

const TAKEN = { login: 'secretTaken', secretName: 'factory-login' } as const;
const SAYS =
  `Secret "factory-login" exists and is not Mooring's, so it is not overwritten: set adminCredentials.secretName to another name. If it was restored, or lost its labels, ` +
  `give it back ${OWNER_LABEL}=orders and app.kubernetes.io/managed-by=mooring; delete it only if nothing needs it. Until then no cluster is created`;

describe('decideCluster() of a cluster whose Secret is not its own', () => {
  const seen = anObservation().missing().login(TAKEN);
  const unmade = seen.with({ mayLandUntilMs: undefined });
  const waiting = { is: 'waiting', message: 'Waiting for DatabaseCluster "source"' } as const;
  const clone = aCluster().with({ cloneFrom: { clusterRef: { name: 'source' } } });

  it.each([
    ['none was created', aCluster(), unmade, undefined],
    ['a deploy was recorded, but surely not made', aCluster().announced(), unmade, { operation: null }],
    ['a deploy was made, and its answer was lost', aCluster().announced(), seen, undefined],
    ['another is to replace one that vanished', aCluster().healthy().with({ recreatePolicy: 'Always' }), seen, {}],
    ['it is to be a clone', clone, seen.with({ cloneSource: { is: 'known', id: 'source' } }), undefined],
    ['the source of the clone is not there yet', clone, seen.with({ cloneSource: waiting }), undefined],
  ])('creates none: %s', (_what, { subject }, observed, status) => {
    const decision = decideCluster(subject, observed.seen, NOW_MS);
    expect(outline(decision)).toEqual({
      ready: 'False SecretNotOurs',
      summary: 'Stalled',
      steps: [],
      comesBack: 'slowly',
    });
    expect(conditionOf(decision, 'Stalled')?.message).toBe(SAYS);
    if (status === undefined) expect(decision.status).toBeUndefined();
    else expect(decision.status).toMatchObject(status);
  });
});

describe('observeCluster() of a cluster that is not there', () => {
  const { signal } = new AbortController();
  const seenWith = async (given: ClusterBuilder, change: (bench: KindBench) => void = () => {}) => {
    const bench = await kindBench();
    await bench.putSecret('orders-admin', { username: 'somebody', password: 'something-else' });
    // That of the bench is another object.
    Object.assign(bench.world(), { claimants: () => [] });
    change(bench);
    const read = vi.spyOn(bench.world().secrets, 'read');
    const seen = await observeCluster(bench.world(), given.subject, signal);
    return [seen.space === 'seen' ? seen.login : undefined, read.mock.calls.length];
  };
  const taken = { login: 'secretTaken', secretName: 'orders-admin', by: undefined };
  const vanished = aCluster().healthy();

  it.each<[string, ClusterBuilder]>([
    ['to be deployed', aCluster()],
    ['to be deployed, and announced', aCluster().announced()],
    ['to be cloned', aCluster().with({ cloneFrom: { clusterID: 'source' } })],
  ])('looks at its Secret once if one is %s', async (_what, given) => {
    expect(await seenWith(given)).toEqual([taken, 1]);
  });

  it.each([
    ['is to have its login there', {}, 'first'],
    ['is only to be taken over with a login from there', { adminCredentials: { secretName: 'other' } }, undefined],
    ['is only observed', { managementPolicy: 'Observe' }, undefined],
  ])('finds the name of its Secret taken if another object that comes first %s', async (_what, spec, wantedBy) => {
    const bench = await kindBench();
    const { metadata, ...first } = aCluster().with(spec).subject;
    const wanted = { adminCredentials: { secretName: 'orders-admin' }, ...spec };
    const older = { uid: 'first', name: 'first', creationTimestamp: '2020-01-01T00:00:00Z' };
    const object = { apiVersion: '', kind: '', ...first, metadata: { ...metadata, ...older } };
    Object.assign(object, { spec: { ...first.spec, ...wanted } });
    const others = { claimants: () => [], referringTo: () => ['shop/first'] as const, cluster: () => object };
    const seen = await observeCluster({ ...bench.world(), ...others } as ClusterWorld, aCluster().subject, signal);
    expect(seen).toMatchObject({ login: wantedBy === undefined ? { login: 'notTried' } : { wantedBy } });
  });

  it.each<[string, ClusterBuilder, ((bench: KindBench) => void)?]>([
    ['there is no such Secret', aCluster().with({ adminCredentials: { secretName: 'free' } })],
    ['none is created', aCluster().with({ adoptionPolicy: 'MustExist' })],
    ['it is only observed', aCluster().with({ managementPolicy: 'Observe' })],
    ['it has vanished, and stays so', vanished],
    ['it has vanished just now', vanished.with({ recreatePolicy: 'Always' })],
    ['its object goes', aCluster().with({ deletionPolicy: 'Delete' }).deleting()],
    [
      'another object has its id',
      aCluster(),
      (bench) => {
        const first = aCluster().owned().subject;
        const object = { apiVersion: '', kind: '', ...first, metadata: { ...first.metadata, uid: 'u' } };
        Object.assign(bench.world(), { claimants: () => ['shop/first'], cluster: () => object });
      },
    ],
  ])('does not look at its Secret if %s', async (_what, given, change) => {
    expect(await seenWith(given, change)).toEqual([{ login: 'notTried' }, 0]);
  });
});

describe('A DatabaseCluster whose Secret is not its own', () => {
  const SECRET = { username: 'somebody', password: 'something-else' };
  const bench = async (options: KindBenchOptions = {}, labels: Readonly<Record<string, string>> = {}) => {
    const made = await kindBench(options);
    await made.putSecret('orders-admin', SECRET, { ...labels });
    return made;
  };
  const created = ({ calls }: KindBench) => calls.filter((call) => call === 'deploy' || call === 'clone');

  it('is deployed only when it names another one', async () => {
    const made = await bench();
    await made.until('False SecretNotOurs');
    expect(created(made)).toEqual([]);
    await made.edit({ adminCredentials: { secretName: 'other' } });
    await made.until('True Running');
    expect(created(made)).toEqual(['deploy']);
    expect(made.secret()).toEqual(SECRET);
  });

  it('is not cloned, and says whose the Secret is', async () => {
    const made = await bench({ spec: { cloneFrom: { clusterID: 'source' } } }, { [OWNER_LABEL]: 'source' });
    made.simulator.deployForeign({ id: 'source' });
    await made.world().connections.get('shop/production')?.poller.refresh();
    await made.until('False SecretNotOurs');
    expect(made.told.at(-1)).toContain('Secret "orders-admin" belongs to DatabaseCluster "source"');
    expect(created(made)).toEqual([]);
  });

  it('is deployed with a Secret that has its label, as after a restore', async () => {
    const made = await bench({}, { [OWNER_LABEL]: 'orders' });
    await made.until('True Running');
    expectOneWorkingLogin(made);
  });
});
