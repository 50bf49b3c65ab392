import { describe, expect, it } from 'vitest';
import { conditionOf, NOW_MS, outline } from '../../../test/support/builders.ts';
import { aServerSeen, aUser, triedLogin } from '../../../test/support/user-builders.ts';
import { decideUser } from './decide.ts';
import type { TriedLogin, UserObservation, UserSeen, UserStep } from './observation.ts';

const IDENTITY = '2026-11-20T10:00:00.000Z';
const on = { username: 'app', identity: IDENTITY };
const fresh = aUser();
const owned = aUser().owned();
const adopting = aUser().with({ adoptionPolicy: 'IfExists' });
const own = { passwordSecretRef: { name: 'mine' } };

const decide = (builder: ReturnType<typeof aUser>, login: UserSeen['login'], claimedBy?: string) =>
  decideUser(builder.subject, aServerSeen(login, claimedBy), NOW_MS);

const nothing: Partial<TriedLogin> = {
  secretVersion: undefined,
  hasCurrent: false,
  works: 'none',
  exists: false,
  asVerified: false,
};
const onlyNext: Partial<TriedLogin> = { ...nothing, secretVersion: '5', hasNext: true };
const refused: Partial<TriedLogin> = { works: 'none' };
const rotation = { lastRotation: '2026-11-20T12:00:00.000Z', lastHandledRotateAt: null };
const create = (password: 'next' | 'current', returns = false): UserStep => ({
  do: 'CreateUser',
  ...on,
  password,
  returns,
});
const put = (password: 'next' | 'current', drifted = false): UserStep => ({
  do: 'PutPassword',
  ...on,
  password,
  drifted,
});

const steps: readonly { name: string; user?: ReturnType<typeof aUser>; found: Partial<TriedLogin>; step: UserStep }[] =
  [
    {
      name: 'records the password before there is a user',
      found: nothing,
      step: { do: 'PrepareNext', isOnly: true },
    },
    { name: 'creates the user with what was recorded', found: onlyNext, step: create('next') },
    {
      name: 'promotes what signs in',
      found: { ...onlyNext, works: 'next', exists: true },
      step: { do: 'PromotePassword' },
    },
    {
      name: 'promotes what signs in beside the one before',
      user: owned,
      found: { hasNext: true, works: 'next' },
      step: { do: 'PromotePassword' },
    },
    { name: 'sets the coming password', user: owned, found: { hasNext: true }, step: put('next') },
    {
      name: 'sets the coming password of a user of ours even if none signs in',
      user: owned,
      found: { ...refused, hasNext: true },
      step: put('next'),
    },
    {
      name: 'takes an existing user over with a new password, recorded first',
      user: adopting,
      found: { ...nothing, exists: true },
      step: { do: 'PrepareNext', isOnly: true },
    },
    {
      name: 'takes an existing user over with the password that was recorded',
      user: adopting,
      found: { ...onlyNext, exists: true },
      step: put('next'),
    },
    {
      name: 'gives a user of ours a new password when the Secret was deleted',
      user: owned,
      found: { ...nothing, exists: true },
      step: { do: 'PrepareNext', isOnly: true },
    },
    {
      name: 'creates a user that was deleted elsewhere with the same password',
      user: owned,
      found: { ...refused, exists: false },
      step: create('current', true),
    },
    {
      name: 'creates a user on a new cluster with the password that clients have',
      user: owned.withStatus({ connection: undefined }),
      found: { ...refused, exists: false },
      step: create('current'),
    },
    {
      name: 'sets back a password that was changed on the server',
      user: owned,
      found: refused,
      step: put('current', true),
    },
    {
      name: 'takes an existing user over with the password that clients have',
      user: adopting,
      found: refused,
      step: put('current'),
    },
    {
      name: 'replaces a password that was edited in the Secret',
      user: owned,
      found: { ...refused, asVerified: false },
      step: { do: 'PrepareNext', isOnly: true },
    },
    {
      name: 'puts the Secret right',
      user: owned,
      found: { content: 'differs' },
      step: { do: 'WriteSecret', isOwn: false },
    },
    {
      name: 'puts the Secret right even if its source does not exist',
      user: owned.with(own),
      found: {
        content: 'differs',
        source: { is: 'unusable', lasting: 'transient', reason: 'SecretNotFound', message: '', forMs: 0 },
      },
      step: { do: 'WriteSecret', isOwn: false },
    },
    {
      name: 'rewrites a Secret of another type',
      user: owned,
      found: { content: 'wrongType' },
      step: { do: 'ReplaceSecret' },
    },
    {
      name: 'applies a changed password of a person',
      user: owned.with(own),
      found: { source: { is: 'own', version: '9', applied: false, coming: true } },
      step: { do: 'PrepareNext' },
    },
    {
      name: 'finishes a password that is on its way before it turns to another',
      user: owned.with(own),
      found: { hasNext: true, source: { is: 'own', version: '9', applied: false, coming: true } },
      step: put('next'),
    },
    {
      name: 'replaces a coming password that no server has seen if a person has changed it since',
      user: owned.with(own),
      found: { hasNext: true, isUnsent: true, source: { is: 'own', version: '9', applied: false, coming: false } },
      step: { do: 'PrepareNext' },
    },
    {
      name: 'finishes a coming password that a server may have accepted, even if a person has changed it since',
      user: owned.with(own),
      found: { hasNext: true, source: { is: 'own', version: '9', applied: false, coming: false } },
      step: put('next'),
    },
    {
      name: 'gives up a coming password that the server took for something else if a person has changed it since',
      user: owned.with(own),
      found: { ...refused, hasNext: true, source: { is: 'own', version: '9', applied: false, coming: false } },
      step: { do: 'PrepareNext', instead: true, isOnly: true },
    },
    {
      name: 'sets the coming password of a person once more if it did not get there',
      user: owned.with(own),
      found: { ...refused, hasNext: true, source: { is: 'own', version: '9', applied: false, coming: true } },
      step: put('next'),
    },
    {
      name: 'sets a coming password that no server has seen if no person has another one',
      user: owned,
      found: { hasNext: true, isUnsent: true },
      step: put('next'),
    },
    {
      name: 'rewrites a Secret whose coming password is not ours',
      user: owned,
      found: { hasNext: true, isNextForeign: true },
      step: { do: 'WriteSecret', isOwn: false },
    },
    {
      name: 'sets the coming password if the one before signs in, even if nothing was recorded',
      found: { hasNext: true },
      step: put('next'),
    },
    {
      name: 'sets the coming password of a user of ours whose password was lost, even if nothing was recorded',
      found: { ...onlyNext, exists: true, hasLostPassword: true },
      step: put('next'),
    },
    {
      name: 'creates no user with a password that nobody should have',
      user: owned,
      found: { ...refused, exists: false, isFactory: true },
      step: { do: 'PrepareNext', isOnly: true },
    },
    {
      name: 'replaces a password that does not sign in, even if the Secret needs to be put right as well',
      user: owned,
      found: { ...refused, asVerified: false, content: 'differs' },
      step: { do: 'PrepareNext', isOnly: true },
    },
    {
      name: 'gives way to a generated password if the spec no longer names another',
      user: owned,
      found: { isOwn: true },
      step: { do: 'PrepareNext' },
    },
    {
      name: 'gives way to a generated password if it is one that nobody should have',
      user: owned,
      found: { isFactory: true },
      step: { do: 'PrepareNext' },
    },
    {
      name: 'rotates when it is time',
      user: owned.with({ rotateEvery: '1h' }),
      found: {},
      step: { do: 'PrepareNext', rotates: true },
    },
    {
      name: 'rotates when it is time though the Secret differs otherwise, as another write might be undone again',
      user: owned.with({ rotateEvery: '1h' }),
      found: { content: 'differs' },
      step: { do: 'PrepareNext', rotates: true },
    },
    {
      name: 'rotates on demand',
      user: owned.annotated('rotate-at', 'now'),
      found: {},
      step: { do: 'PrepareNext', rotates: true },
    },
    {
      name: 'copies the passwords to a Secret of another name',
      user: owned.with({ connectionSecret: { name: 'other' } }),
      found: { ...nothing, previous: [{ name: 'app-connection', hasPassword: true }] },
      step: { do: 'CopySecret', from: 'app-connection' },
    },
  ];

describe('the password', () => {
  it.each(steps)('$name', ({ user = fresh, found, step }) => {
    const decision = decide(user, triedLogin(found));
    expect(decision.steps).toEqual([step]);
    expect(decision.hold).toBe(true);
  });

  it('changes nothing before the Secret has it', () => {
    expect(decide(owned, triedLogin({ hasNext: true, works: 'next' })).conditions).toBe('keep');
  });

  it("of a person's own stays, and is not said to give way before it does", () => {
    const decision = decide(owned, triedLogin({ isOwn: true }));
    expect(decision.status).toEqual({});
    const kept = decide(
      owned.with(own),
      triedLogin({ isOwn: true, source: { is: 'own', version: '9', applied: true, coming: false } }),
    );
    expect(kept.steps).toEqual([]);
  });

  it('stays the one that works while another one is being set, and the user stays Ready', () => {
    expect(outline(decide(owned, triedLogin({ hasNext: true }))).ready).toBe('True LoginWorks');
    expect(outline(decide(owned, triedLogin({ ...refused, hasNext: true }))).ready).toBe('Unknown SettingPassword');
  });
});

describe('a password that the server accepted and that does not sign in yet', () => {
  const awaited = { isAwaited: true } as const;

  it.each([
    { name: 'beside one that works', user: owned, found: { hasNext: true }, ready: 'True LoginWorks' },
    { name: 'that was set back', user: owned, found: refused, ready: 'Unknown SettingPassword' },
    { name: 'of a new user', found: { ...onlyNext, exists: true, isCreated: true }, ready: 'Unknown SettingPassword' },
    {
      name: 'of a new user that is not listed',
      found: { ...onlyNext, isCreated: true },
      ready: 'Unknown SettingPassword',
    },
  ])('$name is waited for', ({ user = fresh, found, ready }) => {
    const decision = decide(user, triedLogin({ ...found, ...awaited }));
    expect([outline(decision).ready, decision.steps, decision.retry]).toEqual([ready, undefined, 'soon']);
    expect(decision.hold).toBe(true);
    const types = decision.conditions === 'keep' ? [] : decision.conditions.map(({ type }) => type);
    expect(types).toEqual(['Ready', 'Reconciling']);
    expect(conditionOf(decision, 'Reconciling')?.message).toContain('The server said that it');
  });

  it('is not set again before it was tried once more', () => {
    const decision = decide(owned, triedLogin({ ...refused, retriedInMs: 2_000 }));
    expect([outline(decision).ready, decision.steps, decision.requeueAfterMs]).toEqual([
      'Unknown SettingPassword',
      undefined,
      2_000,
    ]);
    expect(conditionOf(decision, 'Reconciling')?.message).toMatch(/which worked before: Mooring tries it again/);
  });

  it.each([
    [{ ...onlyNext, exists: true, isCreated: true }, /created user .*, but the password does not sign in yet/],
    [{ ...onlyNext, isCreated: true }, /created user .*, but it does not list that user yet/],
    [{ ...onlyNext, exists: true }, /took the new password of user .*, but the password does not sign in yet/],
    [{ hasNext: true, isCreated: true }, /took the new password of user/],
  ])('is described in words: %#', (found, words) => {
    const decision = decide(owned, triedLogin({ ...found, ...awaited }));
    expect(conditionOf(decision, 'Reconciling')?.message).toMatch(words);
  });

  it("is somebody else's if another user replaced the one that was created", () => {
    const decision = decide(fresh, triedLogin({ ...onlyNext, exists: true, isCreated: true }));
    expect(outline(decision).ready).toBe('False UserExists');
    expect(conditionOf(decision, 'Ready')?.message).toContain('that the server said it was created with');
  });
});

const stuck: readonly { name: string; user?: ReturnType<typeof aUser>; seen: UserObservation; reason: string }[] = [
  {
    name: 'a user that somebody else made',
    seen: aServerSeen(triedLogin({ ...nothing, exists: true })),
    reason: 'UserExists',
  },
  {
    name: 'a user that somebody else made while ours was on the way',
    seen: aServerSeen(triedLogin({ ...onlyNext, exists: true })),
    reason: 'UserExists',
  },
  {
    name: 'a user that somebody else made while a password was on the way that its person has changed since',
    user: fresh.with(own),
    seen: aServerSeen(
      triedLogin({ ...onlyNext, exists: true, source: { is: 'own', version: '9', applied: false, coming: false } }),
    ),
    reason: 'UserExists',
  },
  {
    name: 'a user of a restored object, whose password is a different one',
    seen: aServerSeen(triedLogin({ ...refused, asVerified: false })),
    reason: 'UserExists',
  },
  {
    name: 'a user on another cluster of the same name',
    user: owned.withStatus({ connection: { ...connectionOf(), cluster: 'another' } }),
    seen: aServerSeen(triedLogin(refused)),
    reason: 'UserExists',
  },
  { name: 'two objects for one user', seen: aServerSeen({ login: 'notTried' }, 'shop/other'), reason: 'UserClaimed' },
  { name: "the cluster's own user", seen: aServerSeen({ login: 'reserved' }), reason: 'UsernameReserved' },
  { name: 'a Secret that is not ours', seen: aServerSeen({ login: 'secretTaken' }), reason: 'SecretNotOurs' },
  {
    name: 'a name that no server accepts',
    user: fresh.named('app.eu'),
    seen: aServerSeen({ login: 'notTried' }),
    reason: 'InvalidUsername',
  },
  {
    name: 'a placeholder that is not known',
    user: fresh.with({ connectionSecret: { template: { URL: '{{ pasword }}' } } }),
    seen: aServerSeen({ login: 'notTried' }),
    reason: 'InvalidTemplate',
  },
  {
    name: 'a cluster that does not admit it',
    seen: { server: 'refused', reason: 'ClusterNotAllowed', message: 'Not admitted' },
    reason: 'ClusterNotAllowed',
  },
  {
    name: 'a password that no server accepts',
    user: fresh.with(own),
    seen: aServerSeen(
      triedLogin({
        ...nothing,
        source: { is: 'unusable', lasting: 'terminal', reason: 'InvalidPassword', message: 'It is empty', forMs: 0 },
      }),
    ),
    reason: 'InvalidPassword',
  },
];

function connectionOf() {
  const { connection } = owned.subject.status;
  if (connection === undefined) throw new Error('A user that is owned was verified');
  return connection;
}

describe('a person must act on', () => {
  it.each(stuck)('$name', ({ user = fresh, seen, reason }) => {
    const decision = decideUser(user.subject, seen, NOW_MS);
    expect(outline(decision)).toEqual({ ready: `False ${reason}`, summary: 'Stalled', steps: [], comesBack: 'slowly' });
    expect(decision.hold).toBeUndefined();
  });
});

describe('it waits for', () => {
  const waiting = { server: 'waiting', why: 'suspended', reason: 'ClusterSuspended', message: 'Asleep' } as const;
  const cluster = { ...waiting, starting: false, destroyed: false, rests: false };

  it('the cluster, until it hears of it', () => {
    expect(outline(decideUser(owned.subject, cluster, NOW_MS))).toEqual({
      ready: 'Unknown ClusterSuspended',
      summary: 'Reconciling',
      steps: [],
      comesBack: 'when something changes',
    });
  });

  it('nothing if the cluster is suspended as its spec says, and the user is as it should be', () => {
    const resting = { ...cluster, rests: true, foundRight: true };
    const was = owned.withReady('True', 'LoginWorks');
    const isWell = { ready: 'True ClusterSuspended', summary: 'none', steps: [], comesBack: 'when something changes' };
    expect(outline(decideUser(was.subject, resting, NOW_MS))).toEqual(isWell);
    const told = owned.withReady('True', 'ClusterSuspended');
    expect(outline(decideUser(told.subject, resting, NOW_MS))).toEqual(isWell);
    for (const [user, seen] of [
      [was, { ...resting, rests: false }],
      [was, { ...resting, foundRight: false }],
    ] as const)
      expect(outline(decideUser(user.subject, seen, NOW_MS)).ready).toBe('Unknown ClusterSuspended');
  });

  it('the cluster to run again, with the new password that was asked for', () => {
    const resting = { ...cluster, rests: true, foundRight: true };
    const asked = owned.withReady('True', 'LoginWorks').annotated('rotate-at', 'now');
    const message =
      'Asleep; the new password that annotation mooring.dev/rotate-at asks for is made once the cluster runs again';
    expect(conditionOf(decideUser(asked.subject, resting, NOW_MS), 'Ready')).toMatchObject({ status: 'True', message });
    expect(conditionOf(decideUser(asked.subject, cluster, NOW_MS), 'Reconciling')).toMatchObject({ message });
    const never = [
      owned,
      fresh.annotated('rotate-at', 'now'),
      owned.with(own).annotated('rotate-at', 'now'),
      owned.annotated('rotate-at', 'now').withStatus({ lastHandledRotateAt: 'now' }),
    ];
    for (const { subject } of never)
      expect(conditionOf(decideUser(subject, cluster, NOW_MS), 'Ready')?.message).toBe('Asleep');
  });

  it('nothing if this process has just begun', () => {
    expect(decideUser(owned.subject, { ...cluster, starting: true }, NOW_MS)).toEqual({ conditions: 'keep' });
    // What was never told, or was told of another spec, is not kept.
    const changed = { ...owned.subject, metadata: { ...owned.subject.metadata, generation: 99 } };
    for (const subject of [fresh.subject, fresh.withStatus({ observedGeneration: 1 }).subject, changed])
      expect(outline(decideUser(subject, { ...cluster, starting: true }, NOW_MS)).ready).toBe(
        'Unknown ClusterSuspended',
      );
  });

  it("a person's own password that does not exist yet", () => {
    const about = { reason: 'SecretNotFound', message: 'Missing', forMs: 5_000 };
    const source = { is: 'unusable', lasting: 'transient', ...about } as const;
    const decision = decide(fresh.with(own), triedLogin({ ...nothing, source }));
    expect(outline(decision)).toMatchObject({ ready: 'Unknown SecretNotFound', summary: 'Reconciling', steps: [] });
    expect(conditionOf(decision, 'Ready')?.message).toBe('Missing');
    expect(decision.retry).toBe('later');
    const before = decide(owned.with(own), triedLogin({ source }));
    expect(conditionOf(before, 'Ready')?.message).toBe('Missing. The previous password stays');
    expect(before).toMatchObject({ retry: 'later' });
  });

  it("a person's own password that has not been there for a moment, which is no news while the login works", () => {
    const about = { reason: 'SecretNotFound', message: 'Missing', forMs: 2_000 };
    const source = { is: 'unusable', lasting: 'transient', ...about } as const;
    expect(decide(owned.with(own), triedLogin({ source }))).toMatchObject({ mayPass: true, requeueAfterMs: 3_000 });
    const broken = decide(owned.with(own), triedLogin({ ...nothing, source }));
    expect([broken.mayPass, broken.retry]).toEqual([undefined, 'later']);
  });
});

describe('A user that somebody else may have made', () => {
  const begun = aUser().owned().withStatus({ username: undefined, connection: undefined });
  it.each([
    ['nothing was begun', fresh, { ...nothing, exists: true }, /was not made by this object/],
    ['it was begun, and nothing is left of it', begun, { ...nothing, exists: true }, /nothing shows whose it is/],
    ['a password is there', begun, { ...refused, asVerified: false }, /was not made by this object/],
    ['a password was coming', begun, { ...onlyNext, exists: true }, /was not made by this object/],
  ])('is reported: %s', (_when, user, found, words) => {
    const decision = decide(user, triedLogin(found));
    expect(outline(decision).ready).toBe('False UserExists');
    expect(conditionOf(decision, 'Ready')?.message).toMatch(words);
  });
});

describe('Ready', () => {
  it('is protected by its finalizer as soon as there may be a user, and not again once that is known', () => {
    expect(decide(fresh, triedLogin()).hold).toBe(true);
    expect(decide(owned, triedLogin()).hold).toBe(false);
  });

  it("says nothing of rotation if nobody asked for it, or if the password is not a person's own", () => {
    const settled = { login: 'settled', verifyInMs: 5_000 } as const;
    for (const user of [
      owned.with(own),
      owned.annotated('rotate-at', 'now'),
      owned.with(own).withStatus({ lastHandledRotateAt: 'old' }),
    ])
      expect(conditionOf(decide(user, settled), 'Ready')?.message).not.toContain('rotate-at');
  });

  it('does not look at rotation of a password that a person has chosen', () => {
    const ahead = owned.with({ ...own, rotateEvery: '2h' }).withStatus({ lastRotation: '2038-01-01T00:00:00.000Z' });
    const source = { is: 'own', version: '9', applied: true, coming: false } as const;
    expect(decide(ahead, triedLogin({ source })).status).not.toHaveProperty('lastRotation');
  });

  it('forgets the name of one of several former Secrets with the last of them, and keeps what else it found', () => {
    const previous = ['one', 'two'].map((name) => ({ name, hasPassword: false }));
    const decision = decide(owned.withStatus({ lastRotation: undefined }), triedLogin({ previous }));
    expect(decision.steps).toMatchObject([
      { do: 'RetireSecret', name: 'one', connection: undefined },
      { do: 'RetireSecret', name: 'two', connection: connectionOf() },
    ]);
    expect(decision.status).toMatchObject({ username: 'app', lastRotation: rotation.lastRotation });
    expect(outline(decision).ready).toBe('True LoginWorks');
  });

  it('says what was verified, at first with the time from which rotations count', () => {
    const decision = decide(fresh.annotated('rotate-at', 'old'), triedLogin());
    expect(outline(decision)).toEqual({
      ready: 'True LoginWorks',
      summary: 'none',
      steps: [],
      comesBack: '600000 ms',
    });
    expect(decision.status).toEqual({
      username: 'app',
      binding: { name: 'app-connection' },
      lastRotation: rotation.lastRotation,
      lastHandledRotateAt: 'old',
      connection: connectionOf(),
    });
  });

  it('writes nothing if nothing changed', () => {
    expect(decide(owned, { login: 'settled', verifyInMs: 5_000 })).toMatchObject({
      status: {},
      steps: [],
      requeueAfterMs: 5_000,
    });
  });

  it('comes back for whatever is due first', () => {
    const rotating = owned.with({ rotateEvery: '2h' });
    expect(decide(rotating, { login: 'settled', verifyInMs: undefined }).requeueAfterMs).toBe(3_600_000);
    expect(decide(rotating, { login: 'settled', verifyInMs: 1_000 }).requeueAfterMs).toBe(1_000);
    expect(decide(owned, { login: 'settled', verifyInMs: undefined }).requeueAfterMs).toBeUndefined();
  });

  it('treats a last rotation in the future as now, and records that', () => {
    const ahead = owned.with({ rotateEvery: '2h' }).withStatus({ lastRotation: '2038-01-01T00:00:00.000Z' });
    for (const login of [{ login: 'settled', verifyInMs: undefined } as const, triedLogin({ verifyInMs: undefined })]) {
      const decision = decide(ahead, login);
      expect(decision.status).toMatchObject({ lastRotation: rotation.lastRotation });
      expect(decision).toMatchObject({ steps: [], requeueAfterMs: 7_200_000 });
    }
    const without = decide(ahead.with({ rotateEvery: undefined }), { login: 'settled', verifyInMs: undefined });
    expect(without).toMatchObject({ status: {}, requeueAfterMs: undefined });
    const asked = decide(ahead.annotated('rotate-at', 'now'), { login: 'settled', verifyInMs: undefined });
    expect(outline(asked).steps).toEqual(['PrepareNext']);
  });

  it("says that a person's own password is not for Mooring to replace, and that this was asked for", () => {
    const asked = owned.with(own).annotated('rotate-at', 'now');
    const decision = decide(asked, { login: 'settled', verifyInMs: 5_000 });
    expect(decision.steps).toEqual([]);
    expect(decision.status).toEqual({ lastHandledRotateAt: 'now' });
    expect(conditionOf(decision, 'Ready')?.message).toMatch(/to replace this one, change Secret "mine"$/);
    const before = decide(asked.withStatus({ lastHandledRotateAt: 'now' }), { login: 'settled', verifyInMs: 5_000 });
    expect(conditionOf(before, 'Ready')?.message).not.toContain('rotate-at');
  });

  it('names the version of the Secret that the password is from', () => {
    const source = { is: 'own', version: '9', applied: true, coming: false } as const;
    const decision = decide(owned.with(own), triedLogin({ source }));
    expect(decision.status?.connection).toEqual({ ...connectionOf(), sourceResourceVersion: '9' });
  });

  it('releases the former Secret last of all', () => {
    const moved = owned.with({ connectionSecret: { name: 'other' } });
    const decision = decide(moved, triedLogin({ previous: [{ name: 'app-connection', hasPassword: true }] }));
    const connection = { ...connectionOf(), secretName: 'other' };
    expect(decision.steps).toEqual([{ do: 'RetireSecret', name: 'app-connection', connection }]);
    expect(decision.status).toEqual({ username: 'app' });
  });
});
