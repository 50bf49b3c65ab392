/**
 * Parts of a cluster's id that make it misbehave on purpose, so that a manifest alone can show how things fail. They
 * act where faults act, but nobody has to switch them on.
 */
export interface Sentinel {
  readonly part: string;
  readonly about: string;
}

export const SENTINELS = {
  failDeploy: { part: '-fail-deploy', about: 'deploy answers 500 and creates nothing' },
  failUpdate: { part: '-fail-update', about: 'update answers 500 and changes nothing' },
  failSuspend: { part: '-fail-suspend', about: 'suspend answers 500 and changes nothing' },
  failResume: { part: '-fail-resume', about: 'resume answers 500 and changes nothing' },
  failClone: { part: '-fail-clone', about: 'cloning to or from this id answers 500 and creates nothing' },
  failDestroy: { part: '-fail-destroy', about: 'destroy answers 500 and destroys nothing' },
  lostAnswer: { part: '-lost-answer', about: 'the first deploy or clone takes effect, but its answer never arrives' },
  throttled: { part: '-throttled', about: 'the first deploy or clone answers 429 with Retry-After: 1' },
  html: { part: '-html', about: 'the first deploy or clone answers 502 with a page of HTML' },
  slow: { part: '-slow', about: 'every transition takes ten times as long' },
  stuck: { part: '-stuck', about: 'stays in starting forever' },
  vanish: { part: '-vanish', about: 'disappears ten seconds after it is running' },
  replaced: { part: '-replaced', about: 'another cluster has its id ten seconds after it is running' },
  changedLogin: { part: '-changed-login', about: 'its servers refuse the factory login' },
  serverDown: { part: '-server-down', about: 'its servers are reported as running but refuse connections' },
  serverPending: { part: '-server-pending', about: 'the cluster is running, but its servers stay pending' },
  oddStatus: { part: '-odd-status', about: 'reports an undocumented status instead of running' },
} as const satisfies Readonly<Record<string, Sentinel>>;

export type SentinelName = keyof typeof SENTINELS;

export function hasSentinel(clusterID: string, name: SentinelName): boolean {
  return `-${clusterID}-`.includes(`${SENTINELS[name].part}-`);
}
