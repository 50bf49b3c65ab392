import { parseArgs } from 'node:util';
import { parseKnobFlags } from '../../src/simulator/knobs.ts';
import type { OtherCommand } from './other-operator.ts';
import { OUTAGES, type Outage } from './scenarios/outage.ts';

/** What to measure, and where to write it. */
export interface Options {
  /** The names of the scenarios to run, such as S1; empty: all. */
  readonly only: readonly string[];
  /** How many new clusters to measure, one after another. */
  readonly newcomers: number;
  /** The sizes of the crowd. S3 to S11 run once for each. */
  readonly crowds: readonly number[];
  /** The cloud for the crowds: a range of times, one time, and a limit on requests; undefined: none. */
  readonly provisionTime: string;
  readonly latency: string;
  readonly requestsPerSecond: number | undefined;
  /** Further cold starts, each with the smallest crowd in this many spaces. */
  readonly spaces: readonly number[];
  /** How long a quiet crowd is watched, in polls of its space. */
  readonly quietPolls: number;
  /** Users on one server. */
  readonly users: number;
  /** How many objects exist when S13 and S15 start the operator. */
  readonly standing: { readonly clusters: number; readonly users: number };
  /** How many clusters each quiet space of S12 wants. */
  readonly quiet: number;
  /** How long S13 keeps changing objects, and how long it waits for memory to settle. */
  readonly churnS: number;
  readonly restS: number;
  /** How long the outage of the cloud lasts, and how long the storm of edits. */
  readonly outageS: number;
  /** The kinds of outage, one after the other. */
  readonly outages: readonly Outage[];
  readonly stormS: number;
  /** The file for the figures as JSON; undefined: a new one in bench-results/. */
  readonly json: string | undefined;
  /** Another operator to measure after Mooring and show beside it; undefined: none. */
  readonly other: OtherCommand | undefined;
  /** The JSON file of an earlier run to show beside this one. */
  readonly compare: string | undefined;
  readonly help: boolean;
}

export const SCENARIOS = [
  'S1',
  'S2',
  'S3',
  'S4',
  'S5',
  'S6',
  'S7',
  'S8',
  'S9',
  'S10',
  'S11',
  'S12',
  'S13',
  'S14',
  'S15',
] as const;
export type ScenarioName = (typeof SCENARIOS)[number];

export const HELP = `npm run bench -- [options]

Measures the operator on a real API server with a simulated cloud, each in a process of its own.

  S1  newcomer: from the API server's answer to the deploy request's arrival in the cloud
  S2  ready: from a server's coming up to Ready=True
  S3  cold start: N clusters exist before the operator starts
  S4  quiet: what happens while nothing changes
  S5  restart: kill -9 and start again beside N clusters that are Ready
  S6  update: 100 of the N clusters are changed at once, then some one by one
  S7  users: 500 users on one of the clusters, at once
  S8  newcomer beside the crowd: as S1, with the N clusters and the users there; then new users
  S9  outage: the cloud fails for a while, in three ways, and a fifth of the clusters, 200 at most, is changed meanwhile
  S10 storm: 100 edits a second
  S11 failover: the leader is killed, and told to stop; another one stands by
  S12 throttled: the cloud lets 10 requests a second through, for one noisy and nine quiet spaces
  S13 scale: starting, resting and working beside very many objects that are Ready
  S14 the API server is killed, and started again 10 s later
  S15 replicas: as S13, with three that share ten spaces; then one of them is killed

  --only S1,S3       only these (S4 to S11 need S3, which then runs unreported)
  --clusters N       size of the crowd (default 100, then 1000; at most 10000), and the most newcomers, and the
                     most clusters in each quiet space of S12
  --spaces S,S       also S3 with the smallest crowd in S spaces (default 10,100)
  --provision T-T    how long a cluster of S3 takes to come up, drawn evenly (default 3s-12s)
  --latency T        delay of each answer of the cloud and its servers, for S3 to S11 (default 0ms); figures of S8 and S11 include it
  --rps N            requests a second that the cloud lets through, for S3 to S11 (default: all)
  --users N          users of S7 (default 500)
  --standing C,U     clusters and users that S13 and S15 start with (default 1000,1000)
  --quiet-polls N    polls of 10 s that S4 watches (default 4; an hour is 360)
  --outage S         seconds of each outage in S9 (default 60; an hour is 3600)
  --outages W,W      only these kinds of outage in S9: ${Object.keys(OUTAGES).join(', ')}
  --storm S          seconds of edits in S10 (default 20)
  --churn S          seconds of changes in S13 (default 60)
  --quick            small numbers, five to ten minutes
  --json FILE        where the figures go (default: a new file in bench-results/)
  --operator COMMAND also measure another operator for the same resources, except in S11, S13 and S15: a shell command that stays
                     in the foreground and finds the kubeconfig of a cluster-admin in KUBECONFIG
  --operator-ready URL  answers 200 when that operator is ready (default: as soon as it was started)
  --compare FILE     show the figures of an earlier run beside these

A missed target is shown, but is not a failure. A scenario that cannot run is one: exit code 1.
`;

/** Throws an Error that says what is wrong. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: '' },
      clusters: { type: 'string' },
      spaces: { type: 'string' },
      provision: { type: 'string', default: '3s-12s' },
      latency: { type: 'string', default: '0ms' },
      rps: { type: 'string' },
      users: { type: 'string' },
      standing: { type: 'string' },
      'quiet-polls': { type: 'string' },
      outage: { type: 'string' },
      outages: { type: 'string', default: Object.keys(OUTAGES).join(',') },
      storm: { type: 'string' },
      churn: { type: 'string' },
      quick: { type: 'boolean', default: false },
      operator: { type: 'string' },
      'operator-ready': { type: 'string' },
      json: { type: 'string' },
      compare: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const only = values.only.split(',').filter((name) => name !== '');
  const unknown = only.filter((name) => !SCENARIOS.some((known) => known === name));
  if (unknown.length > 0) throw new Error(`--only takes ${SCENARIOS.join(', ')}, not ${unknown.join(', ')}`);
  const clusters = values.clusters === undefined ? undefined : countOf('clusters', values.clusters, MOST_CLUSTERS);
  const usual = values.quick
    ? {
        newcomers: 10,
        crowds: [30],
        spaces: [10],
        quietPolls: 2,
        churnS: 10,
        restS: 3,
        users: 50,
        standing: 200,
        quiet: 5,
        outageS: 20,
        stormS: 5,
      }
    : {
        newcomers: 50,
        crowds: [100, 1000],
        spaces: [10, 100],
        quietPolls: 4,
        churnS: 60,
        restS: 10,
        users: 500,
        standing: 1000,
        quiet: 10,
        outageS: 60,
        stormS: 20,
      };
  const numberOr = (option: 'users' | 'quiet-polls' | 'churn' | 'outage' | 'storm', standard: number) => {
    const text = values[option];
    return text === undefined ? standard : countOf(option, text);
  };
  return {
    only,
    newcomers: Math.min(usual.newcomers, clusters ?? usual.newcomers),
    crowds: clusters === undefined ? usual.crowds : [clusters],
    spaces:
      values.spaces === undefined ? usual.spaces : values.spaces.split(',').map((text) => countOf('spaces', text)),
    provisionTime: knob('provision', 'provision-time', values.provision),
    latency: knob('latency', 'latency', values.latency),
    requestsPerSecond: values.rps === undefined ? undefined : countOf('rps', values.rps),
    quietPolls: numberOr('quiet-polls', usual.quietPolls),
    users: numberOr('users', usual.users),
    quiet: Math.min(usual.quiet, clusters ?? usual.quiet),
    standing: standingOf(values.standing ?? `${usual.standing},${usual.standing}`),
    restS: usual.restS,
    churnS: numberOr('churn', usual.churnS),
    outageS: numberOr('outage', usual.outageS),
    outages: outagesOf(values.outages),
    stormS: numberOr('storm', usual.stormS),
    other: values.operator === undefined ? undefined : { command: values.operator, readyURL: values['operator-ready'] },
    json: values.json,
    compare: values.compare,
    help: values.help,
  };
}

/** Throws if the simulator would refuse it. */
function knob(option: string, flag: string, text: string): string {
  try {
    parseKnobFlags({ [flag]: text });
    return text;
  } catch {
    throw new Error(`--${option} takes a duration such as 3s, or a range such as 1s-5s, not ${JSON.stringify(text)}`);
  }
}

function outagesOf(text: string): readonly Outage[] {
  const known = Object.keys(OUTAGES) as Outage[];
  return text.split(',').map((word) => {
    const outage = known.find((each) => each === word);
    if (outage === undefined) throw new Error(`--outages takes ${known.join(', ')}, not ${JSON.stringify(word)}`);
    return outage;
  });
}

/** Each cluster's server takes a port below those that systems assign by themselves. */
const MOST_CLUSTERS = 10_000;

function standingOf(text: string): Options['standing'] {
  const [, clusters = 0, users = 0] = (/^([1-9]\d{0,4}),([1-9]\d{0,4})$/.exec(text) ?? []).map(Number);
  if (clusters === 0 || clusters > MOST_CLUSTERS)
    throw new Error(`--standing takes clusters (up to ${MOST_CLUSTERS}) and users, such as 1000,2000`);
  return { clusters, users };
}

function countOf(option: string, text: string, most = 99_999): number {
  if (!/^[1-9]\d{0,4}$/.test(text) || Number(text) > most)
    throw new Error(`--${option} takes a number from 1 to ${most}, not ${JSON.stringify(text)}`);
  return Number(text);
}
