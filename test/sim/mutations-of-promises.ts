import type { Mutation } from './mutate.ts';

const RECONCILE = 'runtime/reconcile.ts';
const QUEUE = 'runtime/workqueue.ts';
const EXISTENCE = 'kinds/databasecluster/existence/decide-existence.ts';

/** Mistakes that each break one promise: to users of the queue, to other controllers, to the cloud, or to people. */
export const OF_PROMISES: readonly Mutation[] = [
  {
    name: 'two-workers-a-key',
    about: 'A key that one worker is processing is given to another',
    changes: [[QUEUE, 'if (!this.#processing.has(key)) this.#enter(key);', 'this.#enter(key);']],
    hunt: ['change'],
  },
  {
    name: 'forget-dirty',
    about: 'A change that comes while its key is being processed is forgotten',
    changes: [[QUEUE, 'if (this.#dirty.has(key)) this.#enter(key);', 'this.#dirty.delete(key);']],
    hunt: ['change-of-mind'],
  },
  {
    name: 'only-our-finalizer',
    about: 'Adding the finalizer to an object removes the finalizers of others',
    changes: [[RECONCILE, 'stands ? [...others, own] : others }', 'stands ? [own] : others }']],
    hunt: ['deploy'],
  },
  {
    name: 'finalizers-of-others-go',
    about: 'Removing the finalizer from an object removes the finalizers of others, too',
    changes: [[RECONCILE, 'stands ? [...others, own] : others }', 'stands ? [...others, own] : [] }']],
    hunt: ['destroy-while-deploying'],
  },
  {
    name: 'conditions-of-others-go',
    about: 'Writing a status removes conditions of other controllers',
    changes: [
      ['kube/condition.ts', 'return [...own, ...previous.filter((condition) => !isOwn(condition))];', 'return own;'],
    ],
    hunt: ['deploy'],
  },
  {
    name: 'event-each-write',
    about: 'Each new message of Ready makes an Event',
    changes: [
      [
        'runtime/controller.ts',
        'if (before?.status === after.status && before.reason === after.reason) return;',
        'if (before?.status === after.status && before.message === after.message) return;',
      ],
    ],
    hunt: ['deploy'],
  },
  {
    name: 'list-for-each-object',
    about: 'Each DatabaseSpace lists its space by itself, even if another one names the same',
    changes: [
      [
        'kinds/databasespace/connection/connections.ts',
        'digestOfSettings({ baseURL, teamID, spaceID, ca, credentials });',
        'digestOfSettings({ baseURL, teamID, spaceID, ca, credentials, space });',
      ],
    ],
    hunt: ['space-named-twice'],
  },
  {
    name: 'gateway-did-nothing',
    about: 'A 5xx counts as a call that had no effect',
    changes: [
      [
        'http/api-error.ts',
        "return kind === 'unavailable' && status !== undefined && status !== 421;",
        "return kind === 'unavailable' && status === 0;",
      ],
    ],
    hunt: ['deploy 4:gatewayTimeout', 'deploy'],
  },
  {
    name: 'never-verify',
    about: 'A login that was verified once is never tried again',
    changes: [
      ['kinds/verification.ts', 'if (intervalMs <= 0) return undefined;', 'if (intervalMs <= 0 || lastMs > 0) return;'],
    ],
    hunt: ['password-changed-elsewhere'],
  },
  {
    name: 'recreate-unasked',
    about: 'A cluster that vanished is replaced by an empty one, whatever recreatePolicy says',
    changes: [
      [
        'kinds/databasecluster/existence/decide-absent.ts',
        "(spec.recreatePolicy === 'Never' || lookalikes",
        "(spec.recreatePolicy === 'Ask' || lookalikes",
      ],
    ],
    hunt: ['vanished'],
  },
  {
    name: 'any-cluster-since',
    about: 'A different cluster that others made at the same time is treated as the one that was asked for',
    changes: [[EXISTENCE, 'return properties.every(([asked, found]) =>', 'return properties.some(([asked, found]) =>']],
    hunt: ['race-for-id'],
  },
  {
    name: 'dead-token-stays',
    about: 'After a 401 the same access token is sent again',
    changes: [['cloud/credentials.ts', '      holder.tokens.drop(token);\n', '']],
    hunt: ['deploy'],
  },
  {
    name: 'cut-change-failed',
    about: 'A change whose answer makes no sense counts as one that had no effect',
    changes: [['http/api-error.ts', "kind === 'lost' || kind === 'badAnswer' || kind", "kind === 'lost' || kind"]],
    hunt: ['deploy 4:truncated', 'deploy'],
  },
  {
    name: 'no-such-function',
    about: 'A function that does not exist is called after a change, which the next pass finds done',
    changes: [
      [
        'kinds/databasecluster/changes/act-change.ts',
        'isShownLater(changes)) unseen.accepted(change, clock)',
        'isShownLater(changes)) unseen.acceptedNow(change, clock)',
      ],
    ],
    hunt: ['change'],
  },
  {
    name: 'protection-ignored',
    about: 'A cluster is destroyed with its object, whatever deletionProtection says',
    changes: [['kinds/databasecluster/decide-deletion.ts', 'if (spec.deletionProtection) {', 'if (nowMs < 0) {']],
    hunt: ['protected'],
  },
  {
    name: 'rotates-for-ever',
    about: 'A password that was just replaced on schedule is due again at once',
    changes: [
      ['kinds/rotation.ts', 'new Date(nowMs).toISOString(), ...handled }', 'status.lastRotation, ...handled }'],
    ],
    hunt: ['rotate-by-itself'],
  },
  {
    name: 'verify-each-minute',
    about: 'Each login is verified once a minute, whatever the interval',
    changes: [['kinds/verification.ts', 'if (intervalMs <= 0) return undefined;', 'intervalMs = 60_000;']],
    hunt: ['deploy'],
  },
  {
    name: 'token-each-call',
    about: 'Each call to the cloud exchanges the API token',
    changes: [['cloud/token.ts', 'if (token !== undefined && (', "if (token?.value === '' && ("]],
    hunt: ['deploy'],
  },
  {
    name: 'error-stays',
    about: 'The last error is still reported when all is well again',
    changes: [
      ['kube/failure.ts', 'if (failure === undefined) return null;', 'if (failure === undefined) return undefined;'],
    ],
    hunt: ['deploy 1:serverError'],
  },
  {
    name: 'no-events',
    about: 'No Event reports a change of Ready',
    changes: [['runtime/controller.ts', '          this.#options.events.record(object, after);\n', '']],
    hunt: ['deploy'],
  },
  {
    name: 'says-nothing',
    about: 'An object that waits for its cluster does not say what for',
    changes: [
      [
        'kinds/server/dependents.ts',
        'return { conditions: [...reconciling(reason, message), ...others] };\n}',
        "return { conditions: [...reconciling(reason, ''), ...others] };\n}",
      ],
    ],
    hunt: ['user-and-cluster-at-once'],
  },
  {
    name: 'metrics-tell-tokens',
    about: 'The label of a metric contains the access token',
    changes: [
      [
        'http/api-call.ts',
        'operation: this.#operation.name, code, durationMs',
        "operation: this.#exchange.headers?.['authorization']?.match(/Bearer .*/)?.[0] ?? '', code, durationMs",
      ],
    ],
    hunt: ['deploy'],
  },
  {
    name: 'spans-tell-tokens',
    about: 'The span of a call contains its headers',
    changes: [
      [
        'base/trace.ts',
        "const attributes = { 'http.request.method':",
        "const attributes = { 'http.request.header': JSON.stringify(request.headers), 'http.request.method':",
      ],
    ],
    hunt: ['deploy'],
  },
];
