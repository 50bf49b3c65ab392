/** What goes wrong at one effect, or around it. */
export const FAULTS = {
  crashBefore: 'the process ends before the effect',
  crashAfter: 'the process ends after the effect',
  crashTwice: 'the process ends after the effect, and the one after it before its first effect',
  upgrade: 'the process ends, and the next one finds statuses as an older version wrote them',
  lostAnswer: 'the effect takes place, the answer is lost',
  lateLanding: 'the answer is lost, and the effect takes place half a minute later',
  gatewayTimeout: 'the effect takes place, and a gateway before the other side answers 504',
  truncated: 'the effect takes place, and its answer ends halfway',
  serverError: 'the other side answers 500 or 503 and does nothing',
  misrouted: 'a router before the other side answers 404 with a page, and nothing is done',
  unauthorized: 'the other side answers 401, as if the token had ended, and does nothing',
  forbidden: 'the other side answers 403, as if an access rule had been added meanwhile, and does nothing',
  throttled: 'the other side answers 429, with Retry-After: 30, and does nothing',
  reset: 'the connection breaks before the request arrives',
  conflict: 'a patch is refused with 409, as if somebody had written in between',
  flaky: 'for two minutes every third call fails',
  stale: 'watches report nothing for 20 s',
  duplicate: 'for a minute watches repeat the last five events after each one, in order',
  gap: 'watches break for 30 s, and what they missed is forgotten (410)',
  oldList: 'as gap, and for two minutes lists are as old as they may be',
  restart: 'the API server restarts: 429 until its storage is there, then 410',
  apiOutage: 'nobody reaches the API server for three minutes',
  cloudOutage: 'nobody reaches the management API for ten minutes',
  serverOutage: 'nobody reaches a database server for five minutes',
  freeze: 'the process is frozen for 45 s after the effect, then goes on',
  suspendMachine: 'as freeze, and its monotonic clock stands still as well',
  stopMachine: 'as freeze, and no clock of the process advances: a virtual machine that was stopped',
  partition: 'the process does not reach the API server for a minute, and hears nothing from it',
  stolenLease: 'somebody else holds the Lease',
  clockForward: 'the wall clock of every process is a day ahead, for 20 minutes',
  clockBack: 'the wall clock of every process is a day behind, for 20 minutes',
  primaryMoves: 'another one of several servers takes the changes, and Lists name them the other way round',
  serverLeaves: 'as primaryMoves, and the one that took the changes is down for two minutes',
  edit: 'a person edits the object, without changing what it means',
  replace: 'a person replaces the object with its manifest, which takes away its finalizers',
  mistake: 'a person makes a mistake in the manifest, and undoes it after five minutes',
  sleep: 'a person suspends the cluster that the object is or is on, and resumes it after five minutes',
  pause: 'a person pauses the object for five minutes',
  meddle: 'another controller has a finalizer and a condition of its own on the object, for five minutes',
  wrongToken: 'a person replaces the API tokens with wrong ones, and corrects them after five minutes',
  delete: 'a person deletes the object',
  recreate: 'a person deletes the object and creates it again',
  deleteAround: 'a person deletes what the object is in: the space of a cluster, the cluster of a user or database',
  loseSecret: 'a person deletes the Secrets that the operator wrote',
  terminate: 'a person deletes the namespace of the object',
} as const;

export type Fault = keyof typeof FAULTS;

export const FAULT_NAMES = Object.keys(FAULTS) as readonly Fault[];

/** Those that seeds choose from: with calls that take their time, what a stopped machine had under way may do harm. */
export const OF_CHANCE: readonly Fault[] = FAULT_NAMES.filter((name) => name !== 'stopMachine');

/** Only where a cluster has several servers. */
export const OF_SEVERAL: ReadonlySet<Fault> = new Set<Fault>(['primaryMoves', 'serverLeaves']);

/** After these, something else may be asked for than before, so that the scenario ends elsewhere. */
export const TURNS: ReadonlySet<Fault> = new Set<Fault>([
  'delete',
  'recreate',
  'deleteAround',
  'loseSecret',
  'terminate',
]);

/** What takes the Lease from a process, or makes it late: these are played with two processes. */
export const FOR_REPLICAS: ReadonlySet<Fault> = new Set<Fault>([
  'freeze',
  'suspendMachine',
  'stopMachine',
  'partition',
  'stolenLease',
]);

/** What befalls processes that share the spaces, what they see of one another, and who has what. What befalls the cloud is alike whoever acts. */
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

/** Of these a single process without a Lease makes nothing, or nothing else than `freeze` does. */
export const NOTHING_ALONE: ReadonlySet<Fault> = new Set<Fault>([...FOR_REPLICAS].filter((name) => name !== 'freeze'));

/** An effect: a write to the Kubernetes API, or an HTTP request that is not a GET. */
export interface Effect {
  readonly index: number;
  readonly to: 'kube' | 'http';
  /** Such as `patch databaseclusters/orders status` or `POST /api/v1/...`. */
  readonly what: string;
  /** Of a request. */
  readonly url?: string;
  /** Of a Kubernetes object. */
  readonly namespace?: string;
  /** Of a Kubernetes object that is created. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Getting an access token, and a sign-in: no effects but for what they are answered. */
export function isLogin({ what }: Pick<Effect, 'what'>): boolean {
  return what.endsWith('/auth') || what.endsWith('/signin');
}

/** A login or a token that is refused is a wrong one, which is no fault on the way: what follows from it is another scenario. */
export function isWrongLogin(effect: Pick<Effect, 'what'>, fault: Fault): boolean {
  return (fault === 'unauthorized' || fault === 'forbidden') && isLogin(effect);
}

/** Whether a fault at this effect is something else than the same fault elsewhere. */
export function strikes({ to, what }: Omit<Effect, 'index'>, fault: Fault): boolean {
  // Events are only told of, and can be lost: of these a crash is enough.
  if (what.startsWith('create events')) return fault === 'crashAfter';
  if (fault === 'misrouted' || fault === 'truncated') return to === 'http';
  if (isWrongLogin({ what }, fault)) return false;
  return fault !== 'conflict' || (to === 'kube' && what.startsWith('patch'));
}
