// npm run bench: measures the operator. Figures go to standard output as a table, and to a file as JSON.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../src/base/errors.ts';
import { chartOf } from './chart.ts';
import { type Figure, isMet, Sheet } from './figure.ts';
import { canLookAtProcesses } from './measure/process.ts';
import { HELP, type Options, parseOptions, type ScenarioName } from './options.ts';
import { readReport, reportOf, tableOf, writeReport } from './report.ts';
import { apiServerKilled } from './scenarios/api-server.ts';
import { coldStart } from './scenarios/cold-start.ts';
import { failover } from './scenarios/failover.ts';
import { newcomer } from './scenarios/newcomer.ts';
import { outage } from './scenarios/outage.ts';
import { quiet } from './scenarios/quiet.ts';
import { ready } from './scenarios/ready.ts';
import { restart } from './scenarios/restart.ts';
import { scale } from './scenarios/scale.ts';
import { storm } from './scenarios/storm.ts';
import { REQUESTS_PER_SECOND, SPACES, throttled } from './scenarios/throttled.ts';
import { update } from './scenarios/update.ts';
import { users } from './scenarios/users.ts';
import { type Setting, type SettingOptions, startSetting } from './setting.ts';
import { until } from './wait.ts';

const RESULTS = fileURLToPath(new URL('../../bench-results', import.meta.url));
/** Short, so that a few polls fit into a measurement: time is scaled, not faked. */
const CROWD_POLL_S = 10;
const UPDATED = 100;

const log = (line: string) => process.stderr.write(`${line}\n`);
const aborted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => aborted.abort());

async function main(args: readonly string[]): Promise<number> {
  let options: Options;
  try {
    options = parseOptions(args);
  } catch (error) {
    log(`${messageOf(error)}\n\n${HELP}`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (!canLookAtProcesses) log('CPU and memory are measured on Linux only: those figures are left out');
  const startedAt = new Date();
  const earlier = options.compare === undefined ? undefined : readReport(options.compare).figures;
  const figures: Figure[] = [];
  let failure: unknown;
  try {
    for await (const sheet of measure(options)) figures.push(...sheet.figures);
  } catch (error) {
    failure = error;
  }
  process.stdout.write(tableOf(figures, earlier));
  const path = options.json ?? `${RESULTS}/${startedAt.toISOString().replaceAll(':', '-').slice(0, 19)}.json`;
  writeReport(path, reportOf(startedAt, args, figures));
  const picture = path.replace(/(\.json)?$/, '.svg');
  writeFileSync(picture, chartOf(figures, `Measured ${startedAt.toISOString().slice(0, 16)}`, earlier));
  const missed = figures.filter((figure) => isMet(figure) === false).length;
  const judged = figures.filter((figure) => isMet(figure) !== undefined).length;
  log(`${judged - missed} of ${judged} targets met. Figures: ${path}, picture: ${picture}`);
  if (failure === undefined) return 0;
  log(`Cannot measure all of it: ${messageOf(failure)}`);
  return 1;
}

/** What each scenario measured, as they come. */
async function* measure(options: Options): AsyncIterableIterator<Sheet> {
  const wanted = (name: ScenarioName) => options.only.length === 0 || options.only.includes(name);
  if (wanted('S1') || wanted('S2')) yield* measureAlone(options, wanted);
  const crowd = CROWD.filter(wanted);
  if (crowd.length > 0) for (const count of options.crowds) yield* measureCrowd(options, count, wanted);
  for (const { name, setting, run } of OWN_SETTINGS) if (wanted(name)) yield* measureIn(name, setting, options, run);
}

/** What needs a setting of its own. */
const OWN_SETTINGS: readonly {
  readonly name: ScenarioName;
  readonly setting: BeginOptions;
  readonly run: (setting: Setting, sheet: Sheet, options: Options) => Promise<void>;
}[] = [
  {
    name: 'S12',
    setting: { provisionTime: '1s', pollInterval: '60s', spaces: SPACES, requestsPerSecond: REQUESTS_PER_SECOND },
    run: (setting, sheet, { quiet }) => throttled(setting, sheet, { quiet, noisy: quiet * SPACES }),
  },
  {
    name: 'S13',
    setting: { provisionTime: '0s', pollInterval: '60s' },
    run: (setting, sheet, { standing }) => scale(setting, sheet, standing),
  },
  {
    name: 'S14',
    setting: { provisionTime: '1s', pollInterval: '60s', audit: true },
    run: (setting, sheet, { crowds }) => apiServerKilled(setting, sheet, namesOf(Math.min(...crowds))),
  },
];

async function* measureIn(
  name: ScenarioName,
  settingOptions: BeginOptions,
  options: Options,
  run: (setting: Setting, sheet: Sheet, options: Options) => Promise<void>,
): AsyncIterableIterator<Sheet> {
  const setting = await begin(name, settingOptions);
  try {
    log(name);
    const sheet = new Sheet(name);
    await run(setting, sheet, options);
    yield sheet;
  } catch (error) {
    for (const line of setting.lastWords()) log(`  the operator said: ${line}`);
    throw error;
  } finally {
    await setting.stop();
  }
}

const namesOf = (count: number) => Array.from({ length: count }, (_, index) => `crowd-${index}`);

/** What needs a crowd, in this order. */
const CROWD = ['S3', 'S4', 'S5', 'S6', 'S7', 'S8', 'S9', 'S10', 'S11'] as const;

type Wanted = (name: ScenarioName) => boolean;

/** An operator that has nothing else to do. */
async function* measureAlone(options: Options, wanted: Wanted): AsyncIterableIterator<Sheet> {
  const setting = await begin('S1, S2', { provisionTime: '3s', pollInterval: '60s' });
  try {
    const operator = await setting.startOperator();
    await until(() => operator.isReady(), 'the operator is ready', 60_000, setting.signal);
    if (wanted('S1')) {
      log(`S1: ${options.newcomers} clusters, one after another`);
      const sheet = new Sheet('S1');
      await newcomer(setting, sheet, options.newcomers);
      yield sheet;
    }
    if (wanted('S2')) {
      const count = Math.ceil(options.newcomers / 3);
      log(`S2: ${count} clusters, one after another`);
      const sheet = new Sheet('S2');
      await ready(setting, sheet, count);
      yield sheet;
    }
  } catch (error) {
    for (const line of setting.lastWords()) log(`  the operator said: ${line}`);
    throw error;
  } finally {
    await setting.stop();
  }
}

async function* measureCrowd(options: Options, count: number, wanted: Wanted): AsyncIterableIterator<Sheet> {
  const setting = await begin(`N=${count}`, { provisionTime: '3s-12s', pollInterval: `${CROWD_POLL_S}s` });
  try {
    const names = namesOf(count);
    const sheetOf = (name: ScenarioName) => {
      log(`${name} N=${count}`);
      return new Sheet(`${name} N=${count}`);
    };
    const cold = sheetOf('S3');
    await coldStart(setting, cold, names);
    if (wanted('S3')) yield cold;
    if (wanted('S4')) {
      const sheet = sheetOf('S4');
      await quiet(setting, sheet, count, options.quietPolls, CROWD_POLL_S);
      yield sheet;
    }
    if (wanted('S5')) {
      const sheet = sheetOf('S5');
      await restart(setting, sheet, count);
      yield sheet;
    }
    const changed = names.slice(0, Math.min(UPDATED, Math.ceil(count / 2)));
    const others: readonly (readonly [ScenarioName, (sheet: Sheet) => Promise<void>])[] = [
      ['S6', (sheet) => update(setting, sheet, changed)],
      ['S7', (sheet) => users(setting, sheet, names[0] ?? '', options.users)],
      ['S8', (sheet) => newcomer(setting, sheet, options.newcomers)],
      ['S9', (sheet) => outage(setting, sheet, changed.slice(0, 20), options.outageS)],
      ['S10', (sheet) => storm(setting, sheet, changed, options.stormS)],
      ['S11', (sheet) => failover(setting, sheet)],
    ];
    for (const [name, run] of others.filter(([name]) => wanted(name))) {
      const sheet = sheetOf(name);
      await run(sheet);
      yield sheet;
    }
  } catch (error) {
    for (const line of setting.lastWords()) log(`  the operator said: ${line}`);
    throw error;
  } finally {
    await setting.stop();
  }
}

type BeginOptions = Omit<SettingOptions, 'log' | 'signal'>;

function begin(what: string, options: BeginOptions): Promise<Setting> {
  log(`${what}: starting a control plane and a simulated cloud`);
  return startSetting({ ...options, log, signal: aborted.signal });
}

process.exitCode = await main(process.argv.slice(2));
