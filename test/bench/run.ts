import { Sheet } from './figure.ts';
import type { Options, ScenarioName } from './options.ts';
import type { OtherCommand } from './other-operator.ts';
import { AWAY, apiServerKilled } from './scenarios/api-server.ts';
import { coldStart } from './scenarios/cold-start.ts';
import { failover } from './scenarios/failover.ts';
import { newUsers } from './scenarios/new-user.ts';
import { newcomer } from './scenarios/newcomer.ts';
import { outage } from './scenarios/outage.ts';
import { quiet } from './scenarios/quiet.ts';
import { ready } from './scenarios/ready.ts';
import { REPLICA_SPACES, replicas } from './scenarios/replicas.ts';
import { restart } from './scenarios/restart.ts';
import { SCALE_VERIFY_S, scale } from './scenarios/scale.ts';
import { storm } from './scenarios/storm.ts';
import { REQUESTS_PER_SECOND, SPACES, throttled } from './scenarios/throttled.ts';
import { update } from './scenarios/update.ts';
import { users } from './scenarios/users.ts';
import { type Setting, type SettingOptions, startSetting } from './setting.ts';
import { until } from './wait.ts';

/** Short, so that a few polls fit into a measurement: time is scaled, not faked. */
const CROWD_POLL_S = 10;
const UPDATED = 100;
const MOST_CHANGED_IN_OUTAGE = 200;
const READY_TIMEOUT_MS = 60_000;

/** Scenarios for Mooring only: how another operator elects a leader, and what its objects look like, is not known. */
const OF_MOORING_ONLY: readonly ScenarioName[] = ['S11', 'S13', 'S15'];

export interface Run {
  readonly options: Options;
  /** The operator to measure instead of Mooring. */
  readonly other: OtherCommand | undefined;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Scenarios that share a setting. */
interface Group {
  /** The name for people. */
  readonly name: string;
  readonly setting: Omit<SettingOptions, 'other' | 'log' | 'signal'>;
  /** Prepares what the other parts need. It may be a scenario too, which is reported if wanted. */
  readonly begin?: Part;
  readonly parts: readonly Part[];
}

interface Part {
  readonly scenario?: ScenarioName;
  /** The size, as in "S3 N=100". */
  readonly size?: string;
  readonly run: (setting: Setting, sheet: Sheet) => Promise<void>;
}

/** Yields the figures of each scenario as it ends. */
export async function* measure(run: Run): AsyncIterableIterator<Sheet> {
  const { only } = run.options;
  const wanted = ({ scenario }: Part) =>
    scenario !== undefined &&
    (only.length === 0 || only.includes(scenario)) &&
    !(run.other !== undefined && OF_MOORING_ONLY.includes(scenario));
  for (const group of groupsOf(run.options)) {
    const parts = group.parts.filter(wanted);
    if (parts.length > 0 || (group.begin !== undefined && wanted(group.begin))) {
      yield* measureGroup(run, { ...group, parts }, wanted);
    }
  }
}

async function* measureGroup(
  { other, log, signal }: Run,
  { name, setting: settingOptions, begin, parts }: Group,
  wanted: (part: Part) => boolean,
): AsyncIterableIterator<Sheet> {
  log(`${name}: starting a control plane and a simulated cloud`);
  const setting = await startSetting({ ...settingOptions, other, log, signal });
  try {
    for (const part of begin === undefined ? parts : [begin, ...parts]) {
      const called = [part.scenario, part.size].filter((word) => word !== undefined).join(' ');
      if (called !== '') log(called);
      const sheet = new Sheet(called);
      await part.run(setting, sheet);
      if (wanted(part)) yield sheet;
    }
  } catch (error) {
    for (const line of setting.lastWords()) log(`  the operator said: ${line}`);
    throw error;
  } finally {
    await setting.stop();
  }
}

function groupsOf(options: Options): readonly Group[] {
  return [
    alone(options),
    ...options.crowds.map((count) => crowd(options, count)),
    ...options.spaces.map((spaces) => coldStartIn(options, spaces)),
    ...others(options),
  ];
}

/** Scenarios of an operator that has nothing else to do. */
function alone({ newcomers }: Options): Group {
  return {
    name: 'S1, S2',
    setting: { provisionTime: '3s', pollInterval: '60s' },
    begin: { run: startReady },
    parts: [
      { scenario: 'S1', run: (setting, sheet) => newcomer(setting, sheet, newcomers) },
      { scenario: 'S2', run: (setting, sheet) => ready(setting, sheet, Math.ceil(newcomers / 3)) },
    ],
  };
}

async function startReady(setting: Setting): Promise<void> {
  const operator = await setting.startOperator();
  await until(() => operator.isReady(), 'the operator is ready', READY_TIMEOUT_MS, setting.signal);
}

function crowdSetting({ provisionTime, latency, requestsPerSecond }: Options): Group['setting'] {
  const limit = requestsPerSecond === undefined ? {} : { requestsPerSecond };
  return { provisionTime, latency, pollInterval: `${CROWD_POLL_S}s`, ...limit };
}

const namesOf = (count: number) => Array.from({ length: count }, (_, index) => `crowd-${index}`);

/** Scenarios that need a crowd, in this order. */
function crowd(options: Options, count: number): Group {
  const names = namesOf(count);
  const changed = names.slice(0, Math.min(UPDATED, Math.ceil(count / 2)));
  const changedInOutage = names.slice(0, Math.min(MOST_CHANGED_IN_OUTAGE, Math.ceil(count / 5)));
  const { newcomers, quietPolls, outageS, outages, stormS } = options;
  const part = (scenario: ScenarioName, run: Part['run']): Part => ({ scenario, size: `N=${count}`, run });
  return {
    name: `N=${count}`,
    setting: crowdSetting(options),
    begin: part('S3', (setting, sheet) => coldStart(setting, sheet, names)),
    parts: [
      part('S4', (setting, sheet) => quiet(setting, sheet, count, quietPolls, CROWD_POLL_S)),
      part('S5', (setting, sheet) => restart(setting, sheet, count)),
      part('S6', (setting, sheet) => update(setting, sheet, changed, newcomers)),
      part('S7', (setting, sheet) => users(setting, sheet, names[0] ?? '', options.users)),
      part('S8', async (setting, sheet) => {
        await newcomer(setting, sheet, newcomers);
        await newUsers(setting, sheet, names, newcomers);
      }),
      ...outages.map(
        (kind): Part => ({
          scenario: 'S9',
          size: `N=${count} ${kind}`,
          run: (setting, sheet) => outage(setting, sheet, changedInOutage, outageS, kind),
        }),
      ),
      part('S10', (setting, sheet) => storm(setting, sheet, changed, stormS)),
      part('S11', (setting, sheet) => failover(setting, sheet)),
    ],
  };
}

function coldStartIn(options: Options, spaces: number): Group {
  const count = Math.min(...options.crowds);
  const size = `N=${count} S=${spaces}`;
  return {
    name: size,
    setting: { ...crowdSetting(options), spaces },
    parts: [{ scenario: 'S3', size, run: (setting, sheet) => coldStart(setting, sheet, namesOf(count)) }],
  };
}

/** Scenarios with a setting of their own. */
function others({ quiet, standing, crowds, churnS, restS, newcomers }: Options): readonly Group[] {
  return [
    {
      name: 'S12',
      setting: { provisionTime: '1s', pollInterval: '60s', spaces: SPACES, requestsPerSecond: REQUESTS_PER_SECOND },
      parts: [
        { scenario: 'S12', run: (setting, sheet) => throttled(setting, sheet, { quiet, noisy: quiet * SPACES }) },
      ],
    },
    {
      name: 'S13',
      setting: { provisionTime: '0s', pollInterval: '60s', verifyIntervalS: SCALE_VERIFY_S },
      parts: [
        { scenario: 'S13', run: (setting, sheet) => scale(setting, sheet, { ...standing, churnS, restS, newcomers }) },
      ],
    },
    {
      name: 'S15',
      setting: {
        provisionTime: '0s',
        pollInterval: '60s',
        verifyIntervalS: SCALE_VERIFY_S,
        spaces: REPLICA_SPACES,
        sharesSpaces: true,
      },
      parts: [
        {
          scenario: 'S15',
          run: (setting, sheet) => replicas(setting, sheet, { ...standing, churnS, restS, newcomers }),
        },
      ],
    },
    {
      name: 'S14',
      setting: { provisionTime: `${AWAY.provisionS}s`, pollInterval: `${AWAY.pollS}s`, audit: true },
      parts: [
        { scenario: 'S14', run: (setting, sheet) => apiServerKilled(setting, sheet, namesOf(Math.min(...crowds))) },
      ],
    },
  ];
}
