import { describe, expect, it } from 'vitest';
import {
  aCloudCluster,
  aCluster,
  anObservation,
  type ClusterBuilder,
  conditionOf,
  ENDPOINT,
  NOW_MS,
  outline,
} from '../../../../test/support/builders.ts';
import { decideCluster } from '../decide.ts';
import type { ClusterStep, LoginObservation } from '../observation.ts';

type Tried = Extract<LoginObservation, { login: 'tried' }>;

const fresh = aCluster().owned();
const healthy = aCluster().healthy();
const unpublished = healthy.withCondition('CredentialsSecured', 'False', 'AdminLoginUnpublished');

const replacing: readonly { name: string; found: Partial<Tried>; step: ClusterStep }[] = [
  {
    name: 'writes a new password beside the factory login',
    found: { working: 'factory', secretVersion: undefined, factoryAlive: undefined },
    step: { do: 'PreparePassword', from: 'factory' },
  },
  {
    name: 'writes a new password beside an existing login',
    found: { working: 'existing', secretVersion: undefined, factoryAlive: undefined },
    step: { do: 'PreparePassword', from: 'existing' },
  },
  {
    name: 'writes a new password beside the login of another Secret',
    found: { working: 'inherited', secretVersion: undefined, factoryAlive: undefined },
    step: { do: 'PreparePassword', from: 'inherited' },
  },
  {
    name: 'writes a new password when only a session that is held works',
    found: { working: 'held', secretVersion: undefined, factoryAlive: undefined },
    step: { do: 'PreparePassword', from: 'held' },
  },
  {
    name: 'retires the factory login that works beside the published one',
    found: { working: 'current', factoryAlive: true },
    step: { do: 'PreparePassword', from: 'factory', isBeside: true },
  },
  {
    name: 'retires the factory login that works beside that of a user who may not manage others',
    found: { working: 'current', factoryAlive: true, powerless: 'orders' },
    step: { do: 'PreparePassword', from: 'factory' },
  },
  {
    name: 'gives the server the password that was recorded, by the factory login',
    found: { working: 'factory', next: 'ours', factoryAlive: undefined },
    step: { do: 'PutPassword', id: 'orders', as: 'factory' },
  },
  {
    name: 'gives the server the password that was recorded, by the current login',
    found: { working: 'current', next: 'ours', factoryAlive: undefined },
    step: { do: 'PutPassword', id: 'orders', as: 'current' },
  },
  {
    name: 'gives the server the password that was recorded, by a session that is held',
    found: { working: 'held', next: 'ours', secretVersion: undefined, factoryAlive: undefined },
    step: { do: 'PutPassword', id: 'orders', as: 'held' },
  },
  {
    name: 'gives the server the password that was recorded, by the login of another Secret, as the one beside it does not work',
    found: { working: 'inherited', workingOf: 'former', next: 'ours', factoryAlive: undefined },
    step: { do: 'PutPassword', id: 'orders', as: 'inherited', of: 'former' },
  },
];

const refused: readonly {
  name: string;
  given: ClusterBuilder;
  found: Partial<Tried>;
  reason: string;
  isAvailable?: boolean;
}[] = [
  {
    name: 'says when the published password is refused',
    given: healthy,
    found: { working: 'none', secretVersion: '5' },
    reason: 'AdminLoginRefused',
  },
  {
    name: 'says when the published password is lost',
    given: healthy,
    found: { working: 'none', secretVersion: undefined },
    reason: 'AdminLoginLost',
  },
  {
    name: 'says when the server signs in with any password, and does not overwrite the one that it may have',
    given: healthy,
    found: { working: 'current', factoryAlive: true, acceptsAny: true },
    reason: 'AnyPasswordAccepted',
  },
  {
    name: 'says when the login that should be retired is of a user other than the one who manages the server, and leaves it',
    given: healthy,
    found: { working: 'current', factoryAlive: true, managedBy: 'admin' },
    reason: 'DefaultLoginMistaken',
    isAvailable: true,
  },
  {
    name: 'says so too if the login is not in its Secret yet, as it cannot get there that way',
    given: healthy,
    found: { working: 'existing', factoryAlive: true, managedBy: 'admin' },
    reason: 'DefaultLoginMistaken',
  },
  {
    name: 'says so too, and promotes nothing, if the coming password seems to work',
    given: healthy,
    found: { working: 'next', next: 'ours', acceptsAny: true },
    reason: 'AnyPasswordAccepted',
  },
  {
    name: 'says when the factory login never worked',
    given: fresh,
    found: { working: 'none', secretVersion: undefined },
    reason: 'DefaultLoginRefused',
  },
];

describe('decideLogin()', () => {
  it.each(replacing)('$name', ({ found, step }) => {
    const decision = decideCluster(fresh.subject, anObservation().tried(found).seen, NOW_MS);
    expect(decision.steps).toEqual([step]);
    expect(decision.hold).toBe(true);
    expect(outline(decision)).toMatchObject({ ready: 'Unknown SecuringCredentials', summary: 'Reconciling' });
    expect(conditionOf(decision, 'CredentialsSecured')?.status).toBe('False');
    expect(conditionOf(decision, 'Available')).toEqual({
      type: 'Available',
      status: 'False',
      reason: 'SecuringCredentials',
      message: `The server at ${ENDPOINT} answers; its login is being replaced`,
    });
  });

  it.each(['CredentialsSecured', 'Available'])(
    'is not Ready while a password is replaced that was not in order before: %s was False',
    (type) => {
      const given = healthy.withCondition(type, 'False', 'SecuringCredentials');
      const seen = anObservation().tried({ next: 'ours', factoryAlive: undefined });
      const decision = decideCluster(given.subject, seen.seen, NOW_MS);
      expect(outline(decision)).toMatchObject({ ready: 'Unknown SecuringCredentials', steps: ['PutPassword'] });
    },
  );

  it.each([
    { before: 'was retired', given: healthy },
    { before: 'was refused before the last pass', given: unpublished },
  ])(
    'says that the login that new clusters come with is not retired if only that works, though it $before',
    ({ given }) => {
      const { seen } = anObservation().tried({ working: 'factory', factoryAlive: undefined });
      const secured = conditionOf(decideCluster(given.subject, seen, NOW_MS), 'CredentialsSecured');
      expect(secured).toMatchObject({ status: 'False', reason: 'SecuringCredentials' });
    },
  );

  it.each([
    ['was refused before', healthy, undefined, 'AdminLoginUnpublished'],
    ['was refused before the last pass', unpublished, undefined, 'AdminLoginUnpublished'],
    ['is refused', fresh, false, 'AdminLoginUnpublished'],
    ['works again', unpublished, true, 'SecuringCredentials'],
    ['was never tried', fresh, undefined, 'SecuringCredentials'],
  ])(
    'says of a login whose Secret is gone whether the one that new clusters come with may work: it %s',
    (_what, given, factoryAlive, reason) => {
      const { seen } = anObservation().tried({ working: 'held', factoryAlive, secretVersion: undefined });
      const secured = conditionOf(decideCluster(given.subject, seen, NOW_MS), 'CredentialsSecured');
      expect(secured).toMatchObject({ status: 'False', reason });
    },
  );

  it.each(refused)('$name', ({ given, found, reason, isAvailable = false }) => {
    const seen = anObservation().tried({ factoryAlive: undefined, ...found });
    const decision = decideCluster(given.subject, seen.seen, NOW_MS);
    expect(outline(decision)).toEqual({
      ready: `False ${reason}`,
      summary: 'Stalled',
      steps: [],
      comesBack: 'slowly',
    });
    expect(conditionOf(decision, 'CredentialsSecured')).toMatchObject({ status: 'False', reason });
    const available = isAvailable ? { status: 'True', reason: 'LoginWorks' } : { status: 'False', reason };
    expect(conditionOf(decision, 'Available')).toMatchObject(available);
    if (isAvailable || found.acceptsAny === true)
      expect(conditionOf(decision, 'Available')?.message).toContain(`The server at ${ENDPOINT} `);
  });

  it.each([
    {
      given: fresh,
      secretVersion: undefined,
      of: 'factory',
      says: /^The server refuses the login that new clusters come with \(/,
    },
    {
      given: healthy,
      secretVersion: '5',
      of: 'current',
      says: /^The server refuses the password in Secret "orders-admin" \(/,
    },
    {
      given: healthy.with({ adminCredentials: { existingSecretRef: { name: 'given' } } }),
      secretVersion: '5',
      of: 'existing',
      says: /The login in Secret "given" \(existingSecretRef\) does not work either \(/,
    },
  ] as const)(
    'says when what is refused begins or ends with white space: $of',
    ({ given, secretVersion, of, says }) => {
      const message = (paddedIn: readonly (typeof of)[]) => {
        const found = { working: 'none', factoryAlive: undefined, secretVersion, paddedIn } as const;
        const decision = decideCluster(given.subject, anObservation().tried(found).seen, NOW_MS);
        return conditionOf(decision, 'Ready')?.message ?? '';
      };
      expect(message([of])).toMatch(says);
      expect(message([of])).toContain('begins or ends with a space or a line break');
      expect(message([])).not.toContain('line break');
    },
  );

  it.each([
    {
      cloneFrom: { clusterRef: { name: 'source' } },
      says: [
        'and the one that DatabaseCluster "source" has now',
        'its password was replaced while the clone was made',
        'the clone has the one before',
        'Make another clone. Or put a login that works into a Secret',
      ],
    },
    {
      cloneFrom: { clusterRef: { name: 'source' } },
      // Its Secret was deleted, or the object itself.
      found: { hasFormer: false },
      says: [
        'and there is no Secret with a login of DatabaseCluster "source", which was cloned: restore that Secret',
        'or make another clone once that DatabaseCluster has a login that works',
        '. Or put a login that works into a Secret',
      ],
    },
    {
      cloneFrom: { clusterID: 'source' },
      says: [
        'it has the login that cluster "source" had when it was cloned',
        'only where cloneFrom.clusterRef names a DatabaseCluster',
      ],
    },
  ])('says which login a clone of $cloneFrom has if it refuses all known ones', ({ cloneFrom, says, found = {} }) => {
    const seen = anObservation().tried({
      working: 'none',
      secretVersion: undefined,
      factoryAlive: undefined,
      ...found,
    });
    const decision = decideCluster(fresh.with({ cloneFrom }).subject, seen.seen, NOW_MS);
    expect(outline(decision).ready).toBe('False DefaultLoginRefused');
    for (const part of says) expect(conditionOf(decision, 'Ready')?.message).toContain(part);
  });

  it.each([
    { name: 'a new cluster', given: fresh },
    { name: 'a cluster that was ready', given: healthy },
  ])('waits while the server of $name accepts the factory login right after it took another password', ({ given }) => {
    const seen = anObservation().tried({ factoryAlive: true, isJustSet: true });
    const decision = decideCluster(given.subject, seen.seen, NOW_MS);
    expect(outline(decision)).toMatchObject({ ready: 'Unknown SecuringCredentials', steps: [] });
    expect(decision.retry).toBe('soon');
    expect(conditionOf(decision, 'CredentialsSecured')?.status).toBe('False');
    for (const part of [
      'took the new password',
      'still accepts the one that new clusters come with',
      'check the server',
    ])
      expect(conditionOf(decision, 'Ready')?.message).toContain(part);
  });

  it('is ready when the published login works and the factory login does not', () => {
    const decision = decideCluster(fresh.subject, anObservation().tried({}).seen, NOW_MS);
    expect(outline(decision)).toMatchObject({ ready: 'True Running', summary: 'none', steps: [] });
    expect(conditionOf(decision, 'Ready')?.message).toContain(
      `runs at ${ENDPOINT}; its login is in Secret "orders-admin"`,
    );
    for (const type of ['Synced', 'CredentialsSecured', 'Available'])
      expect(conditionOf(decision, type)?.status, type).toBe('True');
    expect(decision.status?.credentials).toEqual({
      secretName: 'orders-admin',
      secretResourceVersion: '5',
      endpoint: ENDPOINT,
    });
  });

  it('deletes the former Secret when the login in the new one was verified, and only then forgets its name', () => {
    const given = healthy.with({ adminCredentials: { secretName: 'renamed' } });
    const found = { secretName: 'renamed', retire: ['orders-admin'] };
    const decision = decideCluster(given.subject, anObservation().tried(found).seen, NOW_MS);
    const credentials = { secretName: 'renamed', secretResourceVersion: '5', endpoint: ENDPOINT };
    expect(decision.steps).toEqual([{ do: 'RetireSecret', names: ['orders-admin'], credentials }]);
    expect(decision.status).not.toHaveProperty('credentials');
    expect(outline(decision).ready).toBe('True Running');
  });

  it('records both Secrets if the former one cannot go yet', () => {
    const given = healthy
      .with({ adminCredentials: { secretName: 'renamed' } })
      .withStatus({ unverifiedSecretName: 'renamed' });
    const decision = decideCluster(given.subject, anObservation().tried({ secretName: 'renamed' }).seen, NOW_MS);
    const credentials = { secretName: 'renamed', secretResourceVersion: '5', endpoint: ENDPOINT };
    expect(decision.status).toMatchObject({ credentials, unverifiedSecretName: 'orders-admin' });
    expect(decision).toMatchObject({ steps: [], requeueAfterMs: 0 });
    expect(outline(decision).ready).toBe('True Running');
  });

  it.each([
    { found: { working: 'inherited', workingOf: 'orders-admin', secretVersion: undefined }, step: 'PreparePassword' },
    {
      found: { working: 'inheritedNext', workingOf: 'orders-admin', secretVersion: undefined },
      step: 'PreparePassword',
    },
    { found: { working: 'current', next: 'ours' }, step: 'PutPassword' },
  ] as const)(
    'is not Ready while the login moves to a new Secret, and says so before $step, as what is published will soon stop working',
    ({ found, step }) => {
      const given = healthy.with({ adminCredentials: { secretName: 'renamed' } });
      const seen = anObservation().tried({ secretName: 'renamed', factoryAlive: undefined, ...found });
      const told = given.withCondition('Ready', 'Unknown', 'SecuringCredentials');
      for (const [now, steps] of [
        [given, []],
        [told, [step]],
      ] as const) {
        const decision = decideCluster(now.subject, seen.seen, NOW_MS);
        const ready = 'Unknown SecuringCredentials';
        expect(outline(decision)).toMatchObject({ ready, summary: 'Reconciling', steps });
        expect(decision.requeueAfterMs).toBe(now === given ? 0 : undefined);
        // Work on its server goes on.
        for (const type of ['CredentialsSecured', 'Available'])
          expect(conditionOf(decision, type)?.status, type).toBe('True');
      }
    },
  );

  it('writes a new password at once, and reports later, if only a session works, as that may end at any moment', () => {
    const given = healthy.with({ adminCredentials: { secretName: 'renamed' } });
    const found = {
      secretName: 'renamed',
      working: 'held',
      secretVersion: undefined,
      factoryAlive: undefined,
    } as const;
    const decision = decideCluster(given.subject, anObservation().tried(found).seen, NOW_MS);
    expect(decision.steps).toEqual([{ do: 'PreparePassword', from: 'held' }]);
    // Nor is there time for clones, except where a new password is not needed.
    const lost = anObservation().tried({ working: 'held', secretVersion: undefined, factoryAlive: undefined });
    const besideClones = decideCluster(healthy.subject, lost.with({ clones: ['copy'] }).seen, NOW_MS);
    expect(besideClones.steps).toEqual([{ do: 'PreparePassword', from: 'held' }]);
  });

  it('deletes the former Secrets if the login works, and leaves the name that leads to them until they are gone', () => {
    const given = healthy.withStatus({ unverifiedSecretName: 'former' });
    const seen = anObservation().tried({ retire: ['between', 'former'] });
    const decision = decideCluster(given.subject, seen.seen, NOW_MS);
    expect(decision.steps).toEqual([{ do: 'RetireSecret', names: ['between', 'former'] }]);
    expect(decision.status).not.toHaveProperty('unverifiedSecretName');
    expect(outline(decision).ready).toBe('True Running');
  });

  it('leaves another Secret, and its name, as long as the login may get there', () => {
    const given = healthy.withStatus({ unverifiedSecretName: 'former' });
    const decision = decideCluster(given.subject, anObservation().tried({ verifyInMs: 30_000 }).seen, NOW_MS);
    expect(decision).toMatchObject({ steps: [], requeueAfterMs: 30_000 });
    expect(decision.status).not.toHaveProperty('unverifiedSecretName');
  });

  it('comes back when the login should be verified', () => {
    expect(decideCluster(healthy.subject, anObservation().seen, NOW_MS).requeueAfterMs).toBe(600_000);
    const never = anObservation().login({ login: 'settled', verifyInMs: undefined });
    expect(decideCluster(healthy.subject, never.seen, NOW_MS).requeueAfterMs).toBeUndefined();
  });

  it('gives no new password while clones are made that come with this one, and says so', () => {
    const due = healthy.withStatus({ lastRotation: '2026-11-20T11:00:00.000Z' }).annotated('rotate-at', 'now');
    const seen = anObservation();
    expect(decideCluster(due.subject, seen.seen, NOW_MS).steps).toEqual([
      { do: 'PreparePassword', from: 'current', rotates: true },
    ]);
    expect(decideCluster(due.subject, seen.with({ clones: ['a'] }).seen, NOW_MS).steps).toEqual([]);
    const decision = decideCluster(due.subject, seen.with({ clones: ['a', 'b', 'c', 'd'] }).seen, NOW_MS);
    expect(decision).toMatchObject({ steps: [], requeueAfterMs: 15_000 });
    expect(outline(decision).ready).toBe('True Running');
    expect(conditionOf(decision, 'Ready')?.message).toMatch(
      /its login is in Secret "orders-admin"; a new password is due, and waits for an hour at most .*: DatabaseCluster "a", "b", "c" and 1 more\. To have it at once, delete these objects with deletionPolicy: Delete, as nobody would be able to sign in to their clusters$/,
    );
    expect(conditionOf(decideCluster(due.subject, seen.seen, NOW_MS), 'Ready')?.message).not.toContain('is due');
  });

  it('moves no login to another Secret while clones are made that come with it, and says so', () => {
    const moved = healthy.with({ adminCredentials: { secretName: 'other' } });
    const seen = anObservation().tried({ working: 'inherited', workingOf: 'orders-admin', secretName: 'other' });
    const decision = decideCluster(moved.subject, seen.with({ clones: ['copy'] }).seen, NOW_MS);
    // Each look tries the logins.
    expect(decision).toMatchObject({ requeueAfterMs: 60_000 });
    expect(outline(decision)).toMatchObject({ ready: 'Unknown SecuringCredentials', steps: [] });
    expect(conditionOf(decision, 'Ready')?.message).toMatch(
      /its login is being replaced: a new password is due, and waits for an hour at most .*: DatabaseCluster "copy"\. To have it at once, delete that object with deletionPolicy: Delete, as nobody would be able to sign in to its cluster$/,
    );
    for (const type of ['CredentialsSecured', 'Available']) expect(conditionOf(decision, type)?.status).toBe('True');
    // While it was observed nothing was known of the login.
    const observed = moved.withCondition('CredentialsSecured', 'Unknown', 'ObservedOnly');
    const then = decideCluster(observed.subject, seen.with({ clones: ['copy'] }).seen, NOW_MS);
    expect(then).toMatchObject({ requeueAfterMs: 60_000 });
    expect(then.steps).toBeUndefined();
    // Whoever knows the login that new clusters come with can sign in to both, so that one goes first.
    const factory = anObservation().tried({ working: 'inherited', secretName: 'other', factoryAlive: true });
    expect(outline(decideCluster(moved.subject, factory.with({ clones: ['copy'] }).seen, NOW_MS)).steps).toEqual([
      'PreparePassword',
    ]);
  });

  it.each([
    ['is observed only', { managementPolicy: 'Observe' }, anObservation(), 'managementPolicy is Manage'],
    ['is suspended', { state: 'Suspended' }, anObservation().status('suspended'), 'it runs again'],
  ] as const)(
    'says until when a new password that was asked for waits: the cluster %s',
    (_what, spec, { seen }, until) => {
      const message = ({ subject }: ClusterBuilder) =>
        conditionOf(decideCluster(subject, seen, NOW_MS), 'Ready')?.message ?? '';
      const given = healthy.with(spec);
      const says = `; the new password that annotation mooring.dev/rotate-at asks for is made once ${until}`;
      expect(message(given.annotated('rotate-at', 'now'))).toBe(`${message(given)}${says}`);
      expect(message(given)).not.toContain('rotate-at');
      const handled = given.withStatus({ lastHandledRotateAt: 'now' });
      expect(message(handled.annotated('rotate-at', 'now'))).not.toContain('rotate-at');
    },
  );

  it('promotes the password that the server has accepted, and leaves reporting it to the next look', () => {
    const seen = anObservation().tried({ working: 'next', next: 'ours', factoryAlive: undefined });
    const decision = decideCluster(fresh.subject, seen.seen, NOW_MS);
    expect(decision).toMatchObject({ conditions: 'keep', steps: [{ do: 'PromotePassword' }], hold: true });
  });

  it('reports drift that appears while the password is promoted, and leaves what was said of the login', () => {
    // No storage ever shrinks, so there is nothing to do about it.
    const cluster = aCloudCluster({ storageSizeGB: 200 });
    const seen = anObservation().with({ cluster }).tried({ working: 'next', next: 'ours', factoryAlive: undefined });
    const decision = decideCluster(healthy.subject, seen.seen, NOW_MS);
    expect(decision).toMatchObject({ status: { drift: [{ field: 'storageSizeGB' }] } });
    expect(conditionOf(decision, 'Synced')).toMatchObject({ status: 'False', reason: 'Drifted' });
    for (const type of ['CredentialsSecured', 'Available']) expect(conditionOf(decision, type)?.status).toBe('True');
  });

  it('leaves a cluster Ready whose password is being replaced, and waits for one that the server said it accepted', () => {
    const replaced = (isAwaited: boolean) => {
      const seen = anObservation().tried({ next: 'ours', isAwaited, factoryAlive: undefined });
      return outline(decideCluster(healthy.subject, seen.seen, NOW_MS));
    };
    expect(replaced(false)).toMatchObject({ ready: 'True Running', steps: ['PutPassword'] });
    expect(replaced(true)).toMatchObject({ ready: 'True Running', summary: 'Reconciling', comesBack: 'soon' });
  });

  it.each([
    ['none', true],
    ['current', false],
  ] as const)(
    'need not tell at once that a password was taken which does not sign in yet, if none does: %s',
    (working, mayPass) => {
      const seen = anObservation().tried({ working, next: 'ours', isAwaited: true, factoryAlive: undefined });
      expect(decideCluster(healthy.subject, seen.seen, NOW_MS)).toMatchObject({ retry: 'soon', mayPass });
    },
  );

  it.each([
    [500_000, 30_000],
    [10_000, 10_000],
  ])(
    'tries a coming password that somebody else wrote each half minute, until it replaces it in %d ms',
    (replacedInMs, requeueAfterMs) => {
      const seen = anObservation().tried({ next: 'foreign', replacedInMs });
      const decision = decideCluster(healthy.subject, seen.seen, NOW_MS);
      expect(decision.requeueAfterMs).toBe(requeueAfterMs);
      expect(outline(decision).steps).toEqual([]);
    },
  );

  it.each([
    ['that works', { working: 'next', next: 'ours' }, 'PromotePassword'],
    ['that was written', { working: 'current', next: 'ours' }, 'PutPassword'],
  ] as const)(
    'goes on with a coming password %s before it reports a user who may not manage others',
    (_, found, step) => {
      const seen = anObservation().tried({ ...found, factoryAlive: undefined, powerless: 'ops' });
      expect(outline(decideCluster(healthy.subject, seen.seen, NOW_MS)).steps).toEqual([step]);
    },
  );

  it('looks again now and then at a cluster whose change is impossible, even if its login is never verified', () => {
    const given = healthy.with({ storageSizeGB: 50 });
    const comesBack = (verifyInMs: number | undefined) => {
      const { seen } = anObservation().login({ login: 'settled', verifyInMs });
      const { retry, requeueAfterMs } = decideCluster(given.subject, seen, NOW_MS);
      return { retry, requeueAfterMs };
    };
    expect(comesBack(undefined)).toEqual({ retry: 'slowly', requeueAfterMs: undefined });
    expect(comesBack(600_000)).toEqual({ retry: undefined, requeueAfterMs: 600_000 });
  });

  it.each([{ storageSizeGB: 200 }, { clusterID: 'orders-eu' }])(
    'does not request a change again, that may just have failed, because a server is looked at soon: %j',
    (change) => {
      const seen = (retrySoon: boolean) =>
        retrySoon
          ? anObservation().login({ login: 'unreachable', message: 'It is down', heldBack: false, forMs: 0 }).seen
          : anObservation().seen;
      const patience = (soon: boolean) =>
        decideCluster(healthy.with(change).generation(2).subject, seen(soon), NOW_MS).steps?.map((step) =>
          'patient' in step ? step.patient : undefined,
        );
      expect([patience(true), patience(false)]).toEqual([[true], [undefined]]);
    },
  );

  it('does not call it drift that the cluster is to be changed once the password is replaced', () => {
    const grown = healthy.with({ storageSizeGB: 200 });
    const decide = (isAwaited: boolean) => {
      const seen = anObservation().tried({ next: 'ours', isAwaited, factoryAlive: undefined });
      return decideCluster(grown.subject, seen.seen, NOW_MS);
    };
    expect(outline(decide(false))).toMatchObject({ ready: 'Unknown Updating', steps: ['PutPassword'] });
    expect(conditionOf(decide(false), 'Ready')?.message).toContain('storageSizeGB from 100 to 200');
    expect(outline(decide(true))).toMatchObject({ ready: 'Unknown SecuringCredentials', comesBack: 'soon' });
    for (const type of ['CredentialsSecured', 'Available']) {
      expect(conditionOf(decide(true), type)?.status).toBe('True');
    }
  });

  it('says that a password that never worked at this cluster may be of another one', () => {
    const seen = anObservation().tried({ working: 'none', secretVersion: '5' }).seen;
    const messageOf = (given: ClusterBuilder) =>
      conditionOf(decideCluster(given.subject, seen, NOW_MS), 'Ready')?.message;
    expect(messageOf(healthy)).toContain(
      '"orders-admin": it was changed elsewhere. Set it back there, and then annotate this object with a new mooring.dev/reconcile-at, as Mooring looks there only now and then. Or put',
    );
    expect(messageOf(fresh)).toContain(
      '"orders-admin", which Mooring has not seen work at this cluster: it is that of the cluster before, or was changed elsewhere. Set it on the server, and then annotate this object with a new mooring.dev/reconcile-at, as Mooring looks there only now and then. Or put',
    );
  });

  it('advises against removing a Secret that somebody may need, such as the one with the API token', () => {
    const seen = anObservation().login({ login: 'secretTaken', secretName: 'cloud-write' }).seen;
    expect(conditionOf(decideCluster(fresh.subject, seen, NOW_MS), 'Ready')?.message).toMatch(
      /not overwritten: set adminCredentials\.secretName to another name\. .*; delete it only if nothing needs it$/,
    );
  });

  it('overwrites no Secret of others', () => {
    const seen = anObservation().login({ login: 'secretTaken', secretName: 'orders-admin' });
    expect(outline(decideCluster(fresh.subject, seen.seen, NOW_MS))).toEqual({
      ready: 'False SecretNotOurs',
      summary: 'Stalled',
      steps: [],
      comesBack: 'slowly',
    });
  });

  it.each([
    ['a server that has never answered', fresh, 'Unknown ServerUnreachable'],
    ['a server that answered before', healthy, 'False ServerUnreachable'],
    [
      'a server that answered before it was found down',
      healthy.withCondition('Ready', 'False', 'ServerUnreachable'),
      'False ServerUnreachable',
    ],
  ])('tries %s again soon', (_what, given, ready) => {
    const seen = anObservation().login({ login: 'unreachable', message: 'Cannot sign in', heldBack: false, forMs: 0 });
    const decision = decideCluster(given.subject, seen.seen, NOW_MS);
    expect(outline(decision)).toEqual({ ready, summary: 'Reconciling', steps: [], comesBack: 'soon' });
    expect(decision.mayPass).toBe(given !== fresh);
    expect(conditionOf(decision, 'Available')?.status).toBe('False');
    expect(conditionOf(decision, 'Ready')?.message).toContain(`at ${ENDPOINT} cannot be used: Cannot sign in. Mooring`);
  });

  it('reports at once that a server is down which others have found so', () => {
    const seen = anObservation().login({ login: 'unreachable', message: 'Not tried', heldBack: true, forMs: 0 });
    expect(decideCluster(healthy.subject, seen.seen, NOW_MS).mayPass).toBe(false);
  });

  it.each([
    ['the server of the login', ENDPOINT, 'True'],
    ['a server where it was never tried', 'https://elsewhere.test:443', 'False'],
  ])('leaves what it found of the login if %s asks for fewer calls', (_what, endpoint, status) => {
    const login = { login: 'unreachable', message: 'Later', isThrottled: true, heldBack: false, forMs: 0 } as const;
    const decision = decideCluster(healthy.subject, anObservation().login(login).with({ endpoint }).seen, NOW_MS);
    expect(conditionOf(decision, 'Available')?.status).toBe(status);
    expect(outline(decision).ready).toBe('Unknown ServerThrottled');
    expect(conditionOf(decision, 'Ready')?.message).toContain('cannot be used now: Later');
  });

  it('distinguishes a server that answers nonsense from one that does not answer', () => {
    const nonsense = {
      login: 'unreachable',
      message: 'A web page',
      isNonsense: true,
      heldBack: false,
      forMs: 0,
    } as const;
    const decision = decideCluster(healthy.subject, anObservation().login(nonsense).seen, NOW_MS);
    expect(outline(decision)).toMatchObject({ ready: 'False ServerAnswerUnusable', summary: 'Reconciling' });
    expect(conditionOf(decision, 'Available')).toMatchObject({
      reason: 'ServerAnswerUnusable',
      message: expect.stringContaining('Check serverURL of the space. Mooring tries again'),
    });
  });

  it('leaves what it reported of a server that is down as it is while further calls are held back', () => {
    const heldBack = anObservation().login({ login: 'unreachable', message: 'Not tried', heldBack: true, forMs: 0 });
    const { endpoint } = heldBack.seen;
    const { metadata, status } = healthy.subject;
    const messageAfter = (change: { reason?: string; observedGeneration?: number; at?: string | undefined }) => {
      const { reason = 'ServerUnreachable', observedGeneration = metadata.generation ?? 0, at = endpoint } = change;
      const told = { status: 'False', reason, message: 'As it was told', observedGeneration } as const;
      // The summary may be about something else.
      const conditions = [{ type: 'Available', ...told, lastTransitionTime: '2026-01-01T00:00:00Z' }];
      const subject = { ...healthy.subject, status: { ...status, endpoint: at, conditions } };
      return conditionOf(decideCluster(subject, heldBack.seen, NOW_MS), 'Available')?.message;
    };
    expect(messageAfter({})).toBe('As it was told');
    for (const change of [{ reason: 'Running' }, { observedGeneration: 0 }, { at: 'https://other.example.com:8000' }])
      expect(messageAfter(change)).toMatch(/cannot be used: Not tried\..*If this persists, check serverURL/);
  });

  it('is not ready while the login of a managed cluster was not tried', () => {
    const seen = anObservation().login({ login: 'notTried' });
    expect(outline(decideCluster(fresh.subject, seen.seen, NOW_MS)).ready).toBe('Unknown WaitingForServer');
  });

  it('says that an observed cluster is as specified, and nothing of its login', () => {
    const given = healthy.with({ managementPolicy: 'Observe' });
    const decision = decideCluster(given.subject, anObservation().login({ login: 'notTried' }).seen, NOW_MS);
    expect(outline(decision)).toMatchObject({ ready: 'True Observed', steps: [] });
    for (const type of ['CredentialsSecured', 'Available'])
      expect(conditionOf(decision, type), type).toMatchObject({ status: 'Unknown', reason: 'ObservedOnly' });
  });
});
