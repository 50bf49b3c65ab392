import type { Mutation } from './mutate.ts';
import { OF_CLUSTERS } from './mutations-of-clusters.ts';
import { OF_PROMISES } from './mutations-of-promises.ts';
import { OF_REPLICAS } from './mutations-of-replicas.ts';
import { ON_SERVERS } from './mutations-on-servers.ts';

const RECONCILE = 'runtime/reconcile.ts';
const EXISTENCE = 'kinds/databasecluster/existence/decide-existence.ts';
const DELETION = 'kinds/databasecluster/decide-deletion.ts';
const ACT_EXISTENCE = 'kinds/databasecluster/existence/act-existence.ts';
const ACT_LOGIN = 'kinds/databasecluster/login/act-login.ts';
const LOGIN = 'kinds/databasecluster/login/decide-login.ts';

/** Removes the check of the finalizer right before the call. */
const NOT_LOOKED_FOR = ['kinds/confirm.ts', '    isHeld(live) &&\n', ''] as const;

/** Deliberate mistakes, each of which the simulation must find. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'no-finalizer',
    about: 'The finalizer is not written before something is created',
    changes: [
      [RECONCILE, 'includes(this.#kind.finalizer) ?? false', 'includes(this.#kind.finalizer) ?? true'],
      NOT_LOOKED_FOR,
    ],
    hunt: ['deploy'],
  },
  {
    name: 'finalizer-stays-away',
    about: 'The finalizer is not put back after somebody removed it',
    changes: [[RECONCILE, 'kind.owns?.(subject) && !this.#hasFinalizer()', 'false']],
    hunt: ['change 1:replace', 'change'],
  },
  {
    name: 'left-unheld',
    about: 'The finalizer is not put back in time after somebody removed it, and the cluster outlives its object',
    changes: [[RECONCILE, 'kind.owns?.(subject) && !this.#hasFinalizer()', 'false']],
    hunt: ['destroy-at-once 4:replace', 'destroy-at-once'],
  },
  {
    name: 'no-intention',
    about: 'A deploy is not announced in the status before the call',
    changes: [
      [
        'kinds/databasecluster/existence/decide-absent.ts',
        'const isAnnounced = isWrittenDown(subject, seen, type, nowMs);',
        'const isAnnounced = subject.status.createdAt === undefined || isWrittenDown(subject, seen, type, nowMs);',
      ],
      [
        ACT_EXISTENCE,
        'const { operation } = subject.status;\n  if (operation === undefined) throw',
        'const operation = subject.status.operation ?? { startedAt: new Date(world.clock.now()).toISOString() };\n  if (operation === undefined) throw',
      ],
    ],
    hunt: ['deploy'],
  },
  {
    name: 'lost-is-refused',
    about: 'A deploy whose answer was lost counts as one that had no effect',
    changes: [['kinds/attempts.ts', 'error instanceof ApiError && !error.effectUnknown', 'error instanceof ApiError']],
    hunt: ['deploy 4:lostAnswer', 'deploy'],
  },
  {
    name: 'conflict-is-ours',
    about: 'A cluster that already has the id is treated as our own',
    changes: [
      [
        ACT_EXISTENCE,
        '  return {};\n',
        '  return { createdAt: identityOf(cluster), clusterID: id, operation: null };\n',
      ],
    ],
    hunt: ['race-for-id'],
  },
  {
    name: 'adopt-silently',
    about: "Somebody else's cluster is taken over, whatever adoptionPolicy says",
    changes: [[EXISTENCE, "if (spec.adoptionPolicy !== 'Never' || ", "if (spec.adoptionPolicy !== 'Always' || "]],
    hunt: ['foreign'],
  },
  {
    name: 'no-identity-check',
    about: 'A cluster is recognized by its id alone',
    changes: [
      [
        'kinds/databasecluster/identity.ts',
        'return createdAt === undefined || createdAt === status.createdAt || isNotTold;',
        'return createdAt !== status.createdAt || true;',
      ],
    ],
    hunt: ['replaced'],
  },
  {
    name: 'destroy-unseen',
    about: 'A cluster is destroyed without asking the cloud whether it is still the same one',
    changes: [
      [
        ACT_EXISTENCE,
        'if (cluster === undefined || !isSame(subject, cluster) || cluster.status',
        'if (cluster?.status',
      ],
      // What is known right before the call would still tell.
      [ACT_EXISTENCE, 'if (!(await confirmFor(work, id))) return undefined;', 'await confirm(work);'],
    ],
    hunt: ['replaced-at-the-end'],
  },
  {
    name: 'act-on-stale-cache',
    about: 'A cluster is created or destroyed without reading its object once more',
    changes: [['kinds/confirm.ts', '  if (!same)\n', '  if (!same && live === undefined)\n']],
    hunt: Array.from({ length: 12 }, (_, index) => `spared seed=${index + 1}`),
  },
  {
    name: 'one-list-is-enough',
    about: 'A cluster that is missing from one List counts as gone',
    changes: [
      [
        'kinds/databasecluster/existence/find-cluster.ts',
        'former !== undefined || createdAt !== undefined ||',
        'former !== undefined ||',
      ],
      // Other safeguards against that: an absence must last, and a former cluster is recognized.
      ['kinds/databasecluster/existence/absences.ts', 'initialMs: ABSENT_MS', 'initialMs: 0'],
      [
        'kinds/databasecluster/identity.ts',
        'former.createdAt !== createdAtOf(cluster)) return',
        'former.createdAt) return',
      ],
    ],
    hunt: Array.from({ length: 12 }, (_, index) => `still-there r${index + 1}:missing`),
  },
  {
    name: 'list-outvoted',
    about: 'Two 404s count for more than the List that was fetched to settle them',
    changes: [
      ['kinds/databasecluster/existence/find-cluster.ts', 'cluster = poller.get(id);', 'cluster = undefined;'],
      // Two other safeguards against that.
      ['kinds/databasecluster/existence/absences.ts', 'initialMs: ABSENT_MS', 'initialMs: 0'],
      [
        'kinds/databasecluster/act-guard.ts',
        'cluster !== undefined && agree(cluster, known)',
        'cluster === undefined || agree(cluster, known)',
      ],
    ],
    hunt: Array.from({ length: 24 }, (_, index) => `destroy r${index + 1}:missingTwice`),
  },
  {
    name: 'first-come-not-first-served',
    about: 'Two objects that stand for one id ignore each other',
    changes: [
      [
        'kinds/databasecluster/existence/claimants.ts',
        'return comesBefore(subject, others, holdOf);',
        'return others.length < 0 ? comesBefore(subject, others, holdOf) : undefined;',
      ],
    ],
    hunt: ['two-for-one-id'],
  },
  {
    name: 'release-on-failure',
    about: 'The finalizer is removed although destroying the cluster failed, as with a 403',
    changes: [
      [
        RECONCILE,
        'if (decision.release && failure === undefined)',
        'if (subject.deleting && (decision.release || failure !== undefined))',
      ],
    ],
    hunt: ['destroy'],
  },
  {
    name: 'leave-what-lands-late',
    about: 'An object is released without waiting for a deploy whose answer was lost',
    changes: [
      [
        DELETION,
        'if (seen.cluster !== undefined || subject.status.createdAt !== undefined) return undefined;',
        "if (seen.id !== '') return undefined;",
      ],
    ],
    hunt: ['destroy-at-once 4:lateLanding', 'destroy-at-once'],
  },
  {
    name: 'ignore-pause',
    about: 'The annotation that pauses an object is ignored',
    changes: [['kube/annotations.ts', "?.[PAUSED] === 'true';", "?.[PAUSED] === 'never';"]],
    hunt: ['paused'],
  },
  {
    name: 'put-before-secret',
    about: 'The server is given a new password before the Secret has it',
    changes: [
      [
        ACT_LOGIN,
        "  const { namespace = '', name } = subject.metadata;\n  const asked =",
        "  await connection.logins(serverOf(work).endpoint, currentID(subject)).setPassword(pick(known, from === 'held' ? 'factory' : from), data.username, data.nextPassword, work.signal);\n  const { namespace = '', name } = subject.metadata;\n  const asked =",
      ],
    ],
    hunt: ['deploy'],
  },
  {
    name: 'promote-unverified',
    about: 'A new password is published before the server has taken it',
    changes: [
      [LOGIN, "if (working === 'next') return {", 'if (hasNext) return {'],
      ['kinds/databasecluster/login/act-login.ts', '  checkWasTried(work, next);\n', ''],
    ],
    hunt: ['rotate'],
  },
  {
    name: 'factory-login-is-good-enough',
    about: 'A cluster is Ready as soon as the login that it came with works',
    changes: [
      [
        LOGIN,
        "  if (working === 'next') return { conditions: 'keep',",
        "  if (working === 'factory') return running(subject, seen, login, {}, nowMs);\n  if (working === 'next') return { conditions: 'keep',",
      ],
    ],
    hunt: ['deploy'],
  },
  {
    name: 'suspend-unsecured',
    about: 'A new cluster is suspended before its factory login is retired',
    changes: [
      [
        'kinds/databasecluster/changes/decide-state.ts',
        'if (!suspended && isBeingSecured(subject, seen)) return undefined;',
        'if (!suspended && Date.now() < 0 && isBeingSecured(subject, seen)) return undefined;',
      ],
    ],
    hunt: ['suspended-from-start'],
  },
  {
    name: 'overwrite-secrets',
    about: "Somebody else's Secret is overwritten if it has the name of ours",
    changes: [
      [
        'kinds/databasecluster/login/login-of.ts',
        'const isTold = secret.labels[OWNER_LABEL] === ownerValue(metadata.name);',
        'const isTold = secret.labels[OWNER_LABEL] !== ownerValue(`not-` + metadata.name);',
      ],
    ],
    hunt: ['secret-of-others'],
  },
  {
    name: 'unconditional-secret-writes',
    about: 'A Secret is written although it has changed since it was read',
    changes: [
      [
        'kinds/secrets.ts',
        'const patch = { metadata: { resourceVersion, uid, ...more }, ...changes };',
        'const patch = { metadata: { ...(resourceVersion === uid ? { uid } : {}), ...more }, ...changes };',
      ],
    ],
    hunt: ['rotate', 'rotate-twice'],
  },
  {
    name: 'unconditional-status-writes',
    about: 'A status is written although it has changed since it was read',
    changes: [
      [
        RECONCILE,
        'const body = { metadata: { resourceVersion: version }, status };',
        'const body = { ...(version === undefined ? { version } : {}), status };',
      ],
    ],
    hunt: ['deploy 2:meddle', 'deploy', 'suspend-resume', 'change-of-mind', 'two-for-one-id', 'deploy replicas=2'],
  },
  {
    name: 'new-times-each-pass',
    about: 'Conditions get a new lastTransitionTime in each pass',
    changes: [
      [
        RECONCILE,
        'setConditions(status.conditions ?? [], updates, generation,',
        'setConditions([], updates, generation,',
      ],
    ],
    hunt: ['deploy'],
  },
  {
    name: 'write-without-change',
    about: 'A status is written in each pass, even if nothing changed',
    changes: [
      [
        RECONCILE,
        '    if (patch === undefined) return;\n    await this.#writeStatus(patch, facts);\n    const ready',
        '    await this.#writeStatus(patch ?? {}, facts);\n    const ready',
      ],
    ],
    hunt: ['deploy'],
  },
  {
    name: 'no-backoff',
    about: 'What failed is retried at once',
    changes: [
      [
        'runtime/controller.ts',
        'if (atLeastMs === undefined) this.queue.addRateLimited(key, this.#missing.has(key) ? SOON_BACKOFF : BACKOFF);',
        'if (atLeastMs === undefined) this.queue.addAfter(key, 10);',
      ],
    ],
    hunt: ['change'],
  },
  {
    name: 'backoff-never-grows',
    about: 'What failed is retried every second, for ever',
    changes: [['runtime/rate-limiter.ts', 'ceilingMs(backoff, failures + 1)', 'initialMs * (failures < 0 ? 2 : 1)']],
    hunt: ['change'],
  },
  {
    name: 'same-pause-for-ever',
    about: 'What failed is retried every 5 s, for ever',
    changes: [
      [
        'runtime/rate-limiter.ts',
        'initialMs + (ceilingMs(backoff, failures + 1) - initialMs) * this.#options.random.float();',
        'failures < 0 ? initialMs : 5_000;',
      ],
    ],
    hunt: ['change'],
  },
  {
    name: 'update-twice',
    about: 'A cluster is updated twice',
    changes: [
      [
        'kinds/databasecluster/changes/act-change.ts',
        'const cluster = await client.update(id, request, signal)',
        'await client.update(id, request, signal);\n    const cluster = await client.update(id, request, signal)',
      ],
    ],
    hunt: ['change'],
  },
  {
    name: 'put-twice',
    about: 'A server is given the same password twice',
    changes: [
      [
        ACT_LOGIN,
        '() => logins.setPassword(login, next.username, next.password, signal),',
        'async () => { for (let i = 0; i < 2; i++) await logins.setPassword(i ? next : login, next.username, next.password, signal); },',
      ],
    ],
    hunt: ['rotate'],
  },
  {
    name: 'forget-410',
    about: 'A watch whose resource version is too old is opened again at the same version',
    changes: [
      ['runtime/reflector.ts', 'if (isRefused(error))', 'if (isRefused(error) && (error as KubeError).status !== 410)'],
      // It does not list after repeated failures either.
      ['runtime/reflector.ts', 'const RELIST_AFTER = 5;', 'const RELIST_AFTER = Number.POSITIVE_INFINITY;'],
    ],
    hunt: ['change-of-mind 1:gap'],
  },
  {
    name: 'never-back',
    about: 'What a later list shows at an earlier version is taken for late, although the server was restored',
    changes: [['kube/list-under-way.ts', 'this.#own === undefined ? isLacked', 'this.#own === undefined ? false']],
    hunt: ['move-secret 2:restored'],
  },
  ...OF_CLUSTERS,
  ...OF_REPLICAS,
  {
    name: 'no-redaction',
    about: 'Messages of the other side are shown as they are, with their secrets',
    changes: [
      [
        'http/redact.ts',
        'result += covered[index] === 1 ? REDACTED : text.slice(index, end);',
        'result += text.slice(index, end).replace(REDACTED, "");',
      ],
    ],
    hunt: ['deploy 4:wrongToken'],
  },
  {
    name: 'half-redacted',
    about: 'The second half of each secret in messages of the other side is shown',
    changes: [
      [
        'http/redact.ts',
        'result += covered[index] === 1 ? REDACTED : text.slice(index, end);',
        'result += covered[index] === 1 ? REDACTED + text.slice((index + end) >> 1, end) : text.slice(index, end);',
      ],
    ],
    hunt: ['deploy 4:wrongToken'],
  },
  {
    name: 'metrics-tell-requests',
    about: 'The label of a metric contains what was sent',
    changes: [
      [
        'http/api-call.ts',
        'operation: this.#operation.name, code, durationMs',
        'operation: this.#exchange.body ?? this.#operation.name, code, durationMs',
      ],
    ],
    hunt: ['deploy'],
  },
  {
    name: 'password-in-metadata',
    about: 'An annotation of a Secret contains its password',
    changes: [
      [
        'kinds/databaseuser/secret/content.ts',
        '[SECRET_ANNOTATIONS.passwordChangedAt]: lastChange.at',
        '[SECRET_ANNOTATIONS.passwordChangedAt]: current ?? lastChange.at',
      ],
    ],
    hunt: ['user'],
  },
  {
    name: 'cut-answer-is-whole',
    about: 'A list that ends too early counts as a complete, shorter one',
    changes: [
      [
        'http/json-stream.ts',
        'const outer = parseJson(splitter.end());',
        'let outer = options.member === undefined ? [] : { [options.member]: [] };\n  try {\n    outer = parseJson(splitter.end());\n  } catch {}',
      ],
    ],
    hunt: ['user-of-others r3:truncated', 'user-of-others'],
  },
  {
    name: 'verify-never-after-a-jump',
    about: 'After the wall clock is set back, logins are not verified',
    changes: [['kinds/verification.ts', 'if (lastMs > nowMs) return 0;', 'if (lastMs > nowMs && nowMs < 0) return 0;']],
    hunt: ['password-lost'],
  },
  ...ON_SERVERS,
  ...OF_PROMISES,
  {
    name: 'kept-as-the-cache-says',
    about: 'A space relies on its cache alone when it releases the Secrets that it keeps',
    changes: [
      ['kinds/databasespace/observe.ts', 'subject.status.keptSecrets ?? []', '[]'],
      // What it has written itself it would know.
      ['kinds/secrets.ts', '    cache.applyOwnWrite?.(answer);', ''],
    ],
    hunt: ['namespace-deleted-while-deploying replicas=2 seed=1 3:partition 4:suspendMachine 5:oldList'],
  },
  {
    name: 'forget-whose-login',
    about: 'The Secret of a cluster that was released is overwritten for another cluster',
    changes: [
      [
        'kinds/databasecluster/login/login-of.ts',
        '  if (!isOfAnother(subject, secret)) return false;',
        '  return false;',
      ],
    ],
    hunt: ['renamed-elsewhere replicas=2 shards 1:recreate'],
  },
  {
    name: 'every-status-is-ours',
    about: 'A status that another process wrote is ignored',
    changes: [
      [
        'runtime/controller.ts',
        'else if (after !== undefined && key !== this.#writing) this.#foreignStatus.set(key, after.metadata.resourceVersion);',
        '',
      ],
    ],
    hunt: ['suspended-from-start replicas=2 17:stopMachine'],
  },
];
