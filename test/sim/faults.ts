/** What goes wrong at one effect, or around it. */
export const FAULTS = {
  crashBefore: 'the process ends before the effect',
  crashAfter: 'the process ends after the effect',
  crashTwice: 'the process ends after the effect, and the next one before its first effect',
  upgrade: 'the process ends, and the next one finds statuses as written by an older version',
  lostAnswer: 'the effect takes place, the answer is lost',
  lateLanding: 'the answer is lost, and the effect takes place half a minute later',
  gatewayTimeout: 'the effect takes place, and a gateway in front of the other side answers 504',
  truncated: 'the effect takes place, and its answer ends halfway',
  serverError: 'the other side answers 500 or 503 and does nothing',
  misrouted: 'a router in front of the other side answers 404 with a page, and nothing is done',
  unauthorized: 'the other side answers 401, as if the token had expired, and does nothing',
  forbidden: 'the other side answers 403, as if access had been taken away, and does nothing',
  throttled: 'the other side answers 429 with Retry-After: 30, and does nothing',
  reset: 'the connection breaks before the request arrives',
  conflict: 'a patch is refused with 409, as if somebody had written in between',
  flaky: 'for two minutes every third call fails',
  stale: 'watches deliver nothing for 20 s',
  duplicate: 'for a minute watches repeat the last five events after each event, in order',
  gap: 'watches break for 30 s, and the events they missed are gone (410)',
  oldList: 'like gap, and for two minutes lists are as old as they may be',
  restart: 'the API server restarts: 429 until its storage is there, then 410',
  restored:
    "etcd is restored from a snapshot of six writes ago, as its manual says, and the API server's version is far ahead",
  restoredNewest: 'like restored, from a snapshot of the last write but one',
  apiOutage: 'nobody reaches the API server for three minutes',
  cloudOutage: 'nobody reaches the management API for ten minutes',
  serverOutage: 'nobody reaches a database server for five minutes',
  freeze: 'the process stands still for 45 s after the effect, then goes on',
  suspendMachine: 'like freeze, and its monotonic clock stands still as well',
  stopMachine: 'like freeze, and all clocks of the process stand still: a virtual machine that was stopped',
  partition: 'the process cannot reach the API server for a minute, and hears nothing from it',
  stolenLease: 'somebody else becomes the holder of the Lease',
  clockForward: 'the wall clock of every process is a day ahead, for 20 minutes',
  clockBack: 'the wall clock of every process is a day behind, for 20 minutes',
  primaryMoves: 'another one of several servers takes the changes, and Lists name the servers in reverse order',
  serverLeaves: 'like primaryMoves, and the server that took the changes is down for two minutes',
  edit: 'a person edits the object without changing what it means',
  replace: 'a person replaces the object by its manifest, which removes its finalizers',
  mistake: 'a person makes a mistake in the manifest, and undoes it after five minutes',
  sleep: "a person suspends the object's cluster, and undoes it after five minutes",
  pause: 'a person pauses the object for five minutes',
  meddle: 'for five minutes another controller has a finalizer and a condition of its own on the object',
  wrongToken: 'a person replaces the API tokens by wrong ones, and corrects them after five minutes',
  delete: 'a person deletes the object',
  recreate: 'a person deletes the object and creates it again',
  deleteAround:
    'a person deletes what the object belongs to: the space of a cluster, the cluster of a user or database',
  loseSecret: 'a person deletes the Secrets that the operator wrote',
  terminate: 'a person deletes the namespace of the object',
} as const;

export type Fault = keyof typeof FAULTS;

export const FAULT_NAMES = Object.keys(FAULTS) as readonly Fault[];

const RESTORED: readonly Fault[] = ['restored', 'restoredNewest'];

/** The faults that may strike anywhere. Not restored: what is lost with the writes cannot be known, so it breaks promises. */
export const EVERYWHERE: readonly Fault[] = FAULT_NAMES.filter((name) => !RESTORED.includes(name));

/** The faults that seeds choose from. Not stopMachine: where calls are slow, calls that were under way may do harm. */
export const OF_CHANCE: readonly Fault[] = EVERYWHERE.filter((name) => name !== 'stopMachine');

/** Faults for clusters with several servers. */
export const OF_SEVERAL: ReadonlySet<Fault> = new Set<Fault>(['primaryMoves', 'serverLeaves']);

/** Faults that may change what is asked for, so that the scenario ends differently. */
export const TURNS: ReadonlySet<Fault> = new Set<Fault>([
  'delete',
  'recreate',
  'deleteAround',
  'loseSecret',
  'terminate',
  ...RESTORED,
]);

/** Faults after which nothing has been done. */
export const FAILURES: ReadonlySet<Fault> = new Set<Fault>([
  'serverError',
  'misrouted',
  'conflict',
  'reset',
  'unauthorized',
  'forbidden',
  'throttled',
]);

/** Faults that take the Lease from a process or delay it. They are played with two processes. */
export const FOR_REPLICAS: ReadonlySet<Fault> = new Set<Fault>([
  'freeze',
  'suspendMachine',
  'stopMachine',
  'partition',
  'stolenLease',
]);

/** Faults of processes that share the spaces, and of what they see of each other. Faults of the cloud are the same whoever acts. */
export const OF_SHARDS: ReadonlySet<Fault> = new Set<Fault>([
  ...FOR_REPLICAS,
  'crashBefore',
  'crashAfter',
  'crashTwice',
  'upgrade',
  'conflict',
  'flaky',
  'stale',
  'duplicate',
  'gap',
  'oldList',
  'restart',
  'apiOutage',
  'clockForward',
  'edit',
  'delete',
  'recreate',
  'deleteAround',
  'terminate',
]);

/** Faults that do nothing to a single process without a Lease, or nothing that `freeze` does not. */
export const NOTHING_ALONE: ReadonlySet<Fault> = new Set<Fault>([...FOR_REPLICAS].filter((name) => name !== 'freeze'));

/** An effect: a write to the Kubernetes API, or an HTTP request that is not a GET. */
export interface Effect {
  readonly index: number;
  readonly to: 'kube' | 'http';
  /** Such as `patch databaseclusters/orders status` or `POST /api/v1/...`. */
  readonly what: string;
  /** The URL of a request. */
  readonly url?: string;
  /** The namespace of a Kubernetes object. */
  readonly namespace?: string;
  /** The labels of a Kubernetes object that is created. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Reports whether the request gets an access token or signs in. It has no effect apart from its answer. */
export function isLogin({ what }: Pick<Effect, 'what'>): boolean {
  return what.endsWith('/auth') || what.endsWith('/signin');
}

/** Reports whether the fault refuses a login or token. That would mean a wrong login, which other scenarios play. */
export function isWrongLogin(effect: Pick<Effect, 'what'>, fault: Fault): boolean {
  return (fault === 'unauthorized' || fault === 'forbidden') && isLogin(effect);
}

/** Reports whether the fault is worth playing at this effect: whether it differs there from other faults. */
export function strikes({ to, what }: Omit<Effect, 'index'>, fault: Fault): boolean {
  // Events only inform, and may be lost: a crash is enough.
  if (what.startsWith('create events')) return fault === 'crashAfter';
  if (fault === 'misrouted' || fault === 'truncated') return to === 'http';
  if (isWrongLogin({ what }, fault)) return false;
  return fault !== 'conflict' || (to === 'kube' && what.startsWith('patch'));
}
