import type { Mutation } from './mutate.ts';

const RECONCILE = 'runtime/reconcile.ts';
const LOGIN = 'kinds/databaseuser/login/decide-login.ts';

/** Two safeguards: what is on a server asks who else has the cluster, and a cluster that another object has is not Available. */
const UNAWARE_OF_SHARING: Mutation['changes'] = [
  ['kinds/server/access.ts', 'if (owner !== undefined) {', "if (owner === '') {"],
  ['kinds/databasecluster/present.ts', 'if (claimedBy !== undefined) {', "if (claimedBy === '') {"],
];

/** Deliberate mistakes with users and databases. */
export const ON_SERVERS: readonly Mutation[] = [
  {
    name: 'user-promote-unverified',
    about: "A user's new password is published before the server has taken it",
    changes: [
      [LOGIN, "if (login.works === 'next') return", "if (login.works !== 'none') return"],
      [
        'kinds/databaseuser/secret/act-secret.ts',
        'if (!world.memory.wasAccepted(',
        'if (subject.deleting && !world.memory.wasAccepted(',
      ],
    ],
    hunt: ['user-rotate'],
  },
  {
    name: 'own-write-is-news',
    about: "A user's password that was refused is tried again because of our own write of its Secret",
    changes: [['kinds/password-tries.ts', 'lookNow ? undefined : this.#refused.get(key)', 'undefined']],
    hunt: ['user-refused'],
  },
  {
    name: 'own-write-is-news-to-a-cluster',
    about: "A cluster's password that was refused is tried again because of our own write of its Secret",
    changes: [['kinds/password-tries.ts', 'lookNow ? undefined : this.#refused.get(key)', 'undefined']],
    hunt: ['rotate-refused'],
  },
  {
    name: 'database-adopt-silently',
    about: "Somebody else's database is treated as our own, and deleted with the object",
    changes: [
      [
        'kinds/database/decide-existence.ts',
        "if (created || subject.spec.adoptionPolicy === 'IfExists') {",
        "if (created || subject.spec.adoptionPolicy !== 'IfExists') {",
      ],
    ],
    hunt: ['database-of-others'],
  },
  {
    name: 'user-without-finalizer',
    about: 'A user is created before the finalizer is written',
    changes: [
      [
        RECONCILE,
        'includes(this.#kind.finalizer) ?? false',
        "includes(this.#kind.finalizer) ?? this.#kind.finalizer.endsWith('/user')",
      ],
      ['kinds/confirm.ts', '    isHeld(live) &&\n', ''],
    ],
    hunt: ['user'],
  },
  {
    name: 'database-without-finalizer',
    about: 'A database is created before the finalizer is written',
    changes: [
      [
        RECONCILE,
        'includes(this.#kind.finalizer) ?? false',
        "includes(this.#kind.finalizer) ?? this.#kind.finalizer.endsWith('/database')",
      ],
      ['kinds/confirm.ts', '    isHeld(live) &&\n', ''],
    ],
    hunt: ['database'],
  },
  {
    name: 'database-unannounced',
    about: 'A database is created without being announced in the status first',
    changes: [
      ['kinds/database/decide-existence.ts', 'if (isAnnounced(subject, seen)) return', 'if (!vanished) return'],
      [
        'kinds/database/act.ts',
        'const { operation } = subject.status;\n  if (operation === undefined) throw',
        "const operation = subject.status.operation ?? { type: 'CreateDatabase', target: name, startedAt: new Date(world.clock.now()).toISOString() };\n  if (operation === undefined) throw",
      ],
    ],
    hunt: ['database'],
  },
  {
    name: 'user-adopt-silently',
    about: "Somebody else's user gets our password, whatever adoptionPolicy says",
    changes: [
      [
        LOGIN,
        "isKnown || subject.spec.adoptionPolicy === 'IfExists';",
        "isKnown || subject.spec.adoptionPolicy !== 'Always';",
      ],
    ],
    hunt: ['user-of-others'],
  },
  {
    name: 'user-deleted-unasked',
    about: 'A user is deleted with its object, whatever deletionPolicy says',
    changes: [
      ['kinds/databaseuser/decide-deletion.ts', "spec.deletionPolicy === 'Retain'", "spec.deletionPolicy === 'Never'"],
      [
        'kinds/databaseuser/observe.ts',
        "subject.deleting && subject.spec.deletionPolicy === 'Retain'",
        "subject.deleting && subject.spec.deletionPolicy === 'Never'",
      ],
    ],
    hunt: ['user-retain'],
  },
  {
    name: 'user-of-others-deleted',
    about: "Somebody else's user is deleted with an object that only has the same name",
    changes: [
      [
        'kinds/databaseuser/decide-deletion.ts',
        "login.login !== 'ending' || login.whose === 'others'",
        "login.login !== 'ending'",
      ],
    ],
    hunt: ['race-for-username 2:delete', 'race-for-username'],
  },
  {
    name: 'unread-is-absent',
    about: 'A Secret that cannot be read counts as one that does not exist',
    changes: [
      [
        'kinds/secrets.ts',
        'await api.get(SECRETS, { namespace, name }, signal);',
        'await api.get(SECRETS, { namespace, name }, signal).catch(() => undefined);',
      ],
    ],
    hunt: Array.from({ length: 12 }, (_, index) => `user-move-secret r${index + 1}:failing`),
  },
  {
    name: 'one-list-of-databases-is-enough',
    about: 'A database that is missing from one List counts as gone at once, and nothing of what is known of it stays',
    changes: [
      ['kinds/absences.ts', 'leftMs = ABSENT_MS - forMs', 'leftMs = 0'],
      ['kinds/database/decide-existence.ts', '...(vanished ? {} : NOTHING_OURS)', '...NOTHING_OURS'],
      [
        'kinds/database/observe.ts',
        'listed || (expected && (await',
        'listed || (expected && subject.deleting && (await',
      ],
    ],
    hunt: missing('database', 24),
  },
  {
    name: 'one-look-lets-go',
    about:
      'An object is released after one look that does not find the database, which the server refuses to delete now',
    changes: [
      ['kinds/database/act.ts', "throw new TransientError('NotFound', message);", 'return;'],
      [
        'kinds/database/exists.ts',
        '|| world.servers.listsDatabase(access, name, signal)',
        '|| world.servers === undefined',
      ],
    ],
    hunt: missing('database-in-use', 12),
  },
  {
    name: 'database-dropped-unasked',
    about: 'A database is dropped with its object, whatever deletionPolicy says',
    changes: [
      [
        'kinds/database/decide-deletion.ts',
        "spec.deletionPolicy === 'Delete' &&",
        "spec.deletionPolicy !== 'Never' &&",
      ],
    ],
    hunt: ['database-retain'],
  },
  {
    name: 'users-unaware-of-others',
    about: 'Two objects that stand for one user ignore each other',
    changes: [
      [
        'kinds/databaseuser/records.ts',
        'return comesBefore(subject, claimants, ',
        'return comesBefore(subject, claimants.slice(claimants.length), ',
      ],
    ],
    hunt: ['two-users-first-goes'],
  },
  {
    name: 'stand-in-the-way',
    about: 'An object that cannot have a user keeps it from the object that created it at the same time',
    changes: [['kinds/databaseuser/records.ts', '?.reason === USER_EXISTS', "?.reason === ''"]],
    hunt: ['two-users-at-once seed=5 r3:forbidden', 'two-users-at-once seed=5'],
  },
  {
    name: 'databases-unaware-of-others',
    about: 'Two objects that stand for one database ignore each other',
    changes: [
      [
        'kinds/database/records.ts',
        'return comesBefore(subject, claimants, ',
        'return comesBefore(subject, claimants.slice(claimants.length), ',
      ],
    ],
    hunt: ['two-databases-first-goes'],
  },
  {
    name: 'claims-without-namespaces',
    about: 'Users on two clusters of the same name in different namespaces count as one',
    changes: [
      ['kinds/databaseuser/records.ts', 'Reference(clusterKeyOf(subject),', 'Reference(subject.spec.clusterRef.name,'],
      ['kinds/databaseuser/records.ts', 'claimants(clusterKeyOf(subject),', 'claimants(subject.spec.clusterRef.name,'],
    ],
    hunt: ['grant-withdrawn'],
  },
  {
    name: 'deaf-to-other-namespaces',
    about: 'A change of a cluster reaches only users in its own namespace',
    changes: [
      [
        'kinds/databaseuser/index.ts',
        '{clusterKeyOf(subject)}`,',
        "{objectKey(metadata.namespace ?? '', spec.clusterRef.name)}`,",
      ],
    ],
    hunt: ['grant-withdrawn'],
  },
  {
    name: 'create-beside-another',
    about: 'A database is created although a call that creates it for another object is under way',
    changes: [
      ['kinds/database/act.ts', 'first && isMadeForAnother(', 'first && subject.deleting && isMadeForAnother('],
    ],
    hunt: Array.from({ length: 60 }, (_, index) => `two-databases-at-once seed=${index + 1} 99:edit`),
  },
  {
    name: 'secret-beside-the-cluster',
    about: 'The Secret of a user is written into the namespace of its cluster',
    changes: [
      [
        'kinds/databaseuser/secret/act-secret.ts',
        'return create(world, namespace, name, newSecret(wanted));',
        'return create(world, subject.spec.clusterRef.namespace ?? namespace, name, newSecret(wanted));',
      ],
    ],
    hunt: ['grant-withdrawn'],
  },
  {
    name: 'admitted-for-ever',
    about: 'Once its namespace was admitted, a user is served for ever',
    changes: [
      [
        'kinds/server/access.ts',
        'if (own !== namespace && !(',
        'if (own !== namespace && subject.status.username === undefined && !(',
      ],
    ],
    hunt: ['grant-withdrawn'],
  },
  {
    name: 'secret-without-owner',
    about: 'The Secret of a user stays after its object is gone',
    changes: [
      ['kinds/databaseuser/secret/content.ts', 'ownerReferences: [owner], type', 'ownerReferences: [], type'],
      ['kinds/databaseuser/secret/changes.ts', 'ownersOf(secret, wanted.owner);', 'undefined;'],
    ],
    hunt: ['user-delete'],
  },
  {
    name: 'former-owner-stays',
    about: 'The Secret of a user that was created again is deleted with the former object',
    changes: [
      [
        'kinds/databaseuser/secret/changes.ts',
        'isDeepStrictEqual(identityOf(each), identityOf(owner))',
        'isDeepStrictEqual(identityOf(each), identityOf({ ...owner, uid: each.uid }))',
      ],
    ],
    hunt: ['user 2:recreate', 'user'],
  },
  {
    name: 'left-where-refused',
    about: 'The object of a user is released without deleting the user if its namespace is not admitted',
    changes: [
      [
        'kinds/databaseuser/decide-deletion.ts',
        "if (observation.server === 'refused') {",
        "if (observation.server === 'refused') {\n    if (username !== '') return release;",
      ],
    ],
    hunt: ['tenant-namespace-deleted'],
  },
  {
    name: 'space-goes-first',
    about: 'A space that is deleted together with users does not wait for them',
    changes: [
      [
        'kinds/databasespace/observe.ts',
        'const goesAfter = subject.deleting ? goesAfterDependents(world, subject) : undefined;',
        'const goesAfter = undefined;',
      ],
    ],
    hunt: ['all-deleted-space-first'],
  },
  {
    name: 'copy-for-original',
    about: 'What is on a server is deleted with a restored copy of the object that it belongs to',
    changes: UNAWARE_OF_SHARING,
    hunt: ['copied-namespace-deleted'],
  },
  {
    name: 'secret-goes-with-copy',
    about: 'The admin Secret of a restored copy is deleted with it, although its cluster is there',
    changes: [['kinds/databasecluster/decide-deletion.ts', 'mayWorkYet(subject, seen) ? [] : ', '']],
    hunt: ['copied-namespace-deleted'],
  },
  {
    name: 'old-password-of-copy',
    about: 'A restored copy of a user sets the password back to that of the backup',
    changes: UNAWARE_OF_SHARING,
    hunt: ['copied-namespace'],
  },
];

/** Plans that strike each of the first looks with `missing`. */
function missing(scenario: string, looks: number): readonly string[] {
  return Array.from({ length: looks }, (_, index) => `${scenario} r${index + 1}:missing`);
}
