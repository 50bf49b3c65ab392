import { describe, expect, it } from 'vitest';
import {
  aCluster,
  anObservation,
  type ClusterBuilder,
  conditionOf,
  ENDPOINT,
  NOW_MS,
  type ObservationBuilder,
  outline,
} from '../../../../test/support/builders.ts';
import { decideCluster } from '../decide.ts';

interface Case {
  readonly name: string;
  readonly given: ClusterBuilder;
  readonly seen: ObservationBuilder;
  readonly thus: Partial<ReturnType<typeof outline>>;
}

const healthy = aCluster().healthy();
/** The spec has changed since the last pass. */
const changed = (spec: object) =>
  aCluster()
    .healthy()
    .generation(2)
    .with({ ...spec });
const suspended = anObservation().status('suspended').login({ login: 'notTried' });
const waking = { thus: { ready: 'Unknown Resuming', summary: 'Reconciling', steps: ['Resume'] } };
const sleeping = { thus: { ready: 'Unknown Suspending', summary: 'Reconciling', steps: ['Suspend'] } };

const FACTORY = { working: 'factory', secretVersion: undefined, factoryAlive: undefined } as const;
const CREDENTIALS = { secretName: 'orders-admin', secretResourceVersion: '5', endpoint: ENDPOINT };
const UNREACHABLE = { login: 'unreachable', message: 'Cannot sign in', heldBack: false } as const;
const MINUTE = 60_000;

const cases: readonly Case[] = [
  { name: 'resumes a cluster that should run', given: healthy, seen: suspended, ...waking },
  {
    name: 'suspends a cluster that should not run',
    given: changed({ state: 'Suspended' }),
    seen: anObservation().login({ login: 'notTried' }),
    ...sleeping,
  },
  {
    name: 'suspends a cluster without a server that runs',
    given: changed({ state: 'Suspended' }),
    seen: anObservation().with({ endpoint: undefined, login: { login: 'notTried' } }),
    ...sleeping,
  },
  {
    name: 'suspends no cluster unsecured because its server is not up yet',
    given: aCluster().with({ state: 'Suspended' }).owned(),
    seen: anObservation().with({ endpoint: undefined, login: { login: 'noServer', forMs: 59 * MINUTE } }),
    thus: { ready: 'Unknown WaitingForServer', steps: [], comesBack: `${MINUTE} ms` },
  },
  {
    name: 'suspends a cluster whose server is still not up after an hour',
    given: aCluster().with({ state: 'Suspended' }).owned(),
    seen: anObservation().with({ endpoint: undefined, login: { login: 'noServer', forMs: 60 * MINUTE } }),
    ...sleeping,
  },
  {
    name: 'retires the factory login before it suspends a cluster for the first time',
    given: aCluster().with({ state: 'Suspended' }).owned(),
    seen: anObservation().tried(FACTORY),
    thus: { ready: 'Unknown SecuringCredentials', steps: ['PreparePassword'] },
  },
  {
    name: 'suspends no cluster unsecured because nobody can sign in to its server now',
    given: aCluster().with({ state: 'Suspended' }).owned(),
    seen: anObservation().login({ ...UNREACHABLE, forMs: 60 * MINUTE - 1 }),
    thus: { ready: 'Unknown ServerUnreachable', steps: [] },
  },
  {
    name: 'suspends a cluster whose server has refused sign-ins for an hour',
    given: aCluster().with({ state: 'Suspended' }).owned(),
    seen: anObservation().login({ ...UNREACHABLE, forMs: 60 * MINUTE }),
    ...sleeping,
  },
  {
    name: 'suspends a cluster whose logins are all refused',
    given: aCluster().with({ state: 'Suspended' }).owned(),
    seen: anObservation().tried({ working: 'none', secretVersion: undefined, factoryAlive: undefined }),
    ...sleeping,
  },
  {
    name: 'is ready when a cluster is suspended as it should be',
    given: changed({ state: 'Suspended' }),
    seen: suspended,
    thus: { ready: 'True Suspended', summary: 'none', steps: [], comesBack: 'when something changes' },
  },
  {
    name: 'resumes before it changes',
    given: changed({ storageSizeGB: 200 }),
    seen: suspended,
    thus: { steps: ['Resume'] },
  },
  {
    name: 'only reports drift of the run state with driftPolicy Report',
    given: healthy.with({ driftPolicy: 'Report' }),
    seen: suspended,
    thus: { ready: 'False Drifted', steps: [] },
  },
  {
    name: 'only reports drift of the run state even after it was seen changing',
    given: healthy.with({ driftPolicy: 'Report' }).withCondition('Synced', 'False', 'Drifted'),
    seen: suspended,
    thus: { ready: 'False Drifted', steps: [] },
  },
  {
    name: 'does not resume with managementPolicy Observe',
    given: changed({ managementPolicy: 'Observe' }),
    seen: suspended,
    thus: { ready: 'False Drifted', steps: [] },
  },
];

describe('decideRunState()', () => {
  it.each(cases)('$name', ({ given, seen, thus }) => {
    expect(outline(decideCluster(given.subject, seen.seen, NOW_MS))).toMatchObject(thus);
  });

  it('records the login before the cluster is suspended for the first time, as no server can show it then', () => {
    const given = aCluster().with({ state: 'Suspended' }).owned();
    const decision = decideCluster(given.subject, anObservation().tried({}).seen, NOW_MS);
    expect(outline(decision)).toMatchObject({ ready: 'Unknown Suspending', steps: [], comesBack: '0 ms' });
    expect(decision.status).toMatchObject({ credentials: CREDENTIALS, lastRotation: new Date(NOW_MS).toISOString() });
    expect(conditionOf(decision, 'CredentialsSecured')?.status).toBe('True');
    const recorded = decideCluster(
      given.withStatus({ credentials: CREDENTIALS }).subject,
      anObservation().tried({}).seen,
      0,
    );
    expect(outline(recorded).steps).toEqual(['Suspend']);
  });

  it('keeps no cluster running whose login was verified once, because its server is silent', () => {
    const given = changed({ state: 'Suspended' }).withCondition('CredentialsSecured', 'Unknown', 'ObservedOnly');
    const seen = anObservation().login({ ...UNREACHABLE, forMs: 0 });
    expect(outline(decideCluster(given.subject, seen.seen, NOW_MS)).steps).toEqual(['Suspend']);
  });

  it('says how a cluster is that is changed before it is suspended', () => {
    const seen = anObservation().login({ login: 'notTried' });
    const decision = decideCluster(changed({ state: 'Suspended', storageSizeGB: 200 }).subject, seen.seen, NOW_MS);
    expect(outline(decision)).toMatchObject({ ready: 'Unknown Updating', steps: ['Update'] });
    for (const type of ['Synced', 'CredentialsSecured', 'Available']) expect(conditionOf(decision, type)).toBeDefined();
  });

  it('says that no server of a suspended cluster runs as it should be so', () => {
    const decision = decideCluster(changed({ state: 'Suspended' }).subject, suspended.seen, NOW_MS);
    expect(conditionOf(decision, 'Available')).toEqual({
      type: 'Available',
      status: 'False',
      reason: 'Suspended',
      message: 'Cluster "orders" is suspended, as the spec says: no server runs',
    });
  });

  it('says that the login moves to another Secret only once the cluster runs again', () => {
    const readyOf = (adminCredentials: object) =>
      conditionOf(
        decideCluster(changed({ state: 'Suspended', adminCredentials }).subject, suspended.seen, NOW_MS),
        'Ready',
      );
    expect(readyOf({ secretName: 'orders-root' })).toMatchObject({
      status: 'True',
      message:
        'Cluster "orders" is suspended, as the spec says; its login stays in Secret "orders-admin", and moves to "orders-root" once it runs again',
    });
    expect(readyOf({ secretName: 'orders-admin' })?.message).toBe('Cluster "orders" is suspended, as the spec says');
  });

  it.each([
    [{ storageSizeGB: 50 }, 'slowly'],
    [{ storageSizeGB: 200 }, undefined],
  ])('looks again now and then at a suspended cluster if a change of it is impossible: %j', (spec, retry) => {
    const decision = decideCluster(changed({ state: 'Suspended', ...spec }).subject, suspended.seen, NOW_MS);
    expect(decision.retry).toBe(retry);
  });

  it.each([
    ['secured', changed({ state: 'Suspended' }), false],
    ['never secured', aCluster().with({ state: 'Suspended' }).owned(), true],
    ['observed only', aCluster().with({ state: 'Suspended', managementPolicy: 'Observe' }).owned(), false],
  ])('says of a suspended cluster that was %s whether its login must be replaced when it runs', (_what, given, is) => {
    const message = conditionOf(decideCluster(given.subject, suspended.seen, NOW_MS), 'Ready')?.message ?? '';
    expect(message).toContain('is suspended, as the spec says');
    expect(message.includes('but its login was never secured')).toBe(is);
  });
});
