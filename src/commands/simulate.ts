import { type ParseArgsConfig, parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { aborted } from '../base/abort.ts';
import { argumentMistake } from '../base/argument-mistake.ts';
import { systemClock } from '../base/clock.ts';
import { formatDuration } from '../base/duration.ts';
import { messageOf } from '../base/errors.ts';
import { listenErrorMessage } from '../base/listen-error.ts';
import { systemRandom } from '../base/random.ts';
import { helpRows } from '../plugin/command-line/help.ts';
import { DIALECTS, type Dialect } from '../simulator/dialect.ts';
import { type SimulatorServer, startSimulatorServer } from '../simulator/hosting/http-server.ts';
import type { Simulator } from '../simulator/interface.ts';
import { KNOB_SPECS, type KnobSpec, type Knobs, parseKnobFlags, SIMULATE_KNOBS } from '../simulator/knobs.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { createSimulator, createTeam, DEFAULT_VERSIONS } from '../simulator/simulator.ts';
import { keepStateFile, loadStateFile } from '../simulator/state-file.ts';
import type { CommandIO } from './command.ts';

type SimulateIO = Pick<CommandIO, 'stdout' | 'stderr' | 'signal'>;

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '7080' },
  'advertised-host': { type: 'string' },
  dialect: { type: 'string', default: 'document' },
  team: { type: 'string', default: 'acme' },
  spaces: { type: 'string', default: 'production,staging' },
  'no-payment-method': { type: 'boolean', default: false },
  versions: { type: 'string', default: DEFAULT_VERSIONS.join(',') },
  'state-file': { type: 'string' },
  seed: { type: 'string' },
  output: { type: 'string', default: 'text' },
} as const;

const ABOUT: Readonly<Record<keyof typeof OPTIONS, string>> = {
  help: 'show this',
  host: 'interface to listen on',
  port: 'port of the management API; database servers get the ports after it; 0: any free one',
  'advertised-host': 'host in addresses, if clients know this machine by another name',
  dialect: 'document: as the documents say; field: as servers were seen to behave',
  team: 'id of the team',
  spaces: 'ids of its spaces',
  'no-payment-method': 'the team has none, so it can have only one free cluster',
  versions: 'database versions on offer',
  'state-file': 'file that keeps clusters, users and databases across restarts',
  seed: 'number that makes everything random repeatable',
  output: 'text, or json: one line with everything a script needs',
};

/**
 * `mooring simulate`: serves both interfaces until the signal aborts. Resolves to the exit code: 0 if it was ended, 1 if it could not
 * start, 2 for flags that make no sense.
 */
export async function simulate(argv: readonly string[], io: SimulateIO): Promise<number> {
  let settings: Settings | undefined;
  try {
    settings = readSettings(argv);
  } catch (error) {
    io.stderr(`${messageOf(error)}\nTry mooring simulate --help.\n`);
    return 2;
  }
  if (settings === undefined) {
    io.stdout(helpText());
    return 0;
  }
  try {
    await serve(settings, io);
    return 0;
  } catch (error) {
    io.stderr(`The simulator cannot run: ${listenErrorMessage(error, '--port or --host')}\n`);
    return 1;
  }
}

async function serve(settings: Settings, io: SimulateIO): Promise<void> {
  // Requests are many and short: a young generation that grows with them would hold 50 MB of what they leave behind.
  setFlagsFromString('--semi-space-growth-factor=1');
  const { stateFile } = settings;
  const state = stateFile === undefined ? undefined : await loadStateFile(stateFile);
  const simulator = createSimulator({
    clock: systemClock,
    random: settings.seed === undefined ? systemRandom : createSeededRandom(settings.seed),
    dialect: settings.dialect,
    knobs: settings.knobs,
    teams: [createTeam(settings.team, settings.spaces, settings.paymentMethod)],
    availableVersions: settings.versions,
    ...(state === undefined ? {} : { state }),
  });
  const server = await startSimulatorServer(simulator, settings.listen);
  const kept =
    stateFile === undefined
      ? undefined
      : keepStateFile(simulator, stateFile, (error) => io.stderr(`The state was not saved: ${messageOf(error)}\n`));
  io.stdout(settings.output === 'json' ? jsonText(simulator, server) : bannerText(simulator, server));
  await aborted(io.signal);
  await server.close();
  await kept?.close();
}

interface Settings {
  readonly listen: { readonly host: string; readonly port: number; readonly advertisedHost?: string };
  readonly dialect: Dialect;
  readonly knobs: Knobs;
  readonly team: string;
  readonly spaces: readonly string[];
  readonly paymentMethod: boolean;
  readonly versions: readonly string[];
  readonly stateFile: string | undefined;
  readonly seed: number | undefined;
  readonly output: string;
}

/** `--echo-secrets` alone means `--echo-secrets=true`, as for every boolean flag. */
function withValue(argument: string, index: number, argv: readonly string[]): string {
  const isBoolean = Object.values(KNOB_SPECS).some(({ kind, flag }) => kind === 'boolean' && argument === `--${flag}`);
  const next = argv[index + 1];
  return isBoolean && (next === undefined || next.startsWith('-')) ? `${argument}=true` : argument;
}

/** Returns undefined if help is asked for. Throws an Error that says what is wrong. */
function readSettings(argv: readonly string[]): Settings | undefined {
  const knobOptions = Object.fromEntries(
    Object.values(KNOB_SPECS).map((spec) => [spec.flag, { type: 'string' as const }]),
  );
  const { values } = parsed(argv, { ...knobOptions, ...OPTIONS });
  if (values.help) return undefined;
  const advertisedHost = values['advertised-host'];
  return {
    listen: {
      host: values.host,
      port: portOf(values.port),
      ...(advertisedHost === undefined ? {} : { advertisedHost }),
    },
    dialect: oneOf('dialect', values.dialect, DIALECTS),
    knobs: { ...SIMULATE_KNOBS, ...parseKnobFlags(values) },
    team: idOf('team', values.team),
    spaces: listOf('spaces', values.spaces).map((id) => idOf('spaces', id)),
    paymentMethod: !values['no-payment-method'],
    versions: listOf('versions', values.versions),
    stateFile: values['state-file'],
    seed: values.seed === undefined ? undefined : integerOf('seed', values.seed),
    output: oneOf('output', values.output, ['text', 'json']),
  };
}

function parsed<T extends NonNullable<ParseArgsConfig['options']>>(argv: readonly string[], options: T) {
  try {
    return parseArgs({ args: argv.map(withValue), options });
  } catch (error) {
    throw new Error(argumentMistake(error, Object.keys(options)), { cause: error });
  }
}

function integerOf(flag: string, text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new Error(`--${flag} takes a number, not ${JSON.stringify(text)}`);
  return Number(text);
}

function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new Error(`--port takes a port from 0 to 65535, not ${JSON.stringify(text)}`);
}

function oneOf<T extends string>(flag: string, text: string, choices: readonly T[]): T {
  const choice = choices.find((candidate) => candidate === text);
  if (choice === undefined) throw new Error(`--${flag} takes ${choices.join(' or ')}, not ${JSON.stringify(text)}`);
  return choice;
}

function listOf(flag: string, text: string): readonly string[] {
  const items = text.split(',').filter((item) => item !== '');
  if (items.length === 0) throw new Error(`--${flag} takes at least one, separated by commas`);
  return items;
}

/** Takes only what a DatabaseSpace can name as its team or space: as `pathSegment` of its schema says in CEL. */
function idOf(flag: string, text: string): string {
  if (/^[^/?#%\s\p{Cc}]{1,253}$/u.test(text) && text !== '.' && text !== '..') return text;
  const rule = 'of 1 to 253 characters, without spaces, /, ?, # or %, and not . or ..';
  throw new Error(
    `--${flag} takes only ids that a DatabaseSpace can name, ${rule}: not ${JSON.stringify(text.slice(0, 80))}`,
  );
}

function bannerText(simulator: Simulator, server: SimulatorServer): string {
  const tokens = simulator.teams.flatMap((team) =>
    team.apiTokens.map(
      (token) =>
        `  ${token.spaceID.padEnd(12)} ${token.level.padEnd(6)} ${token.clientID.padEnd(18)} ${token.clientSecret}`,
    ),
  );
  const { username, password } = simulator.defaultCredentials;
  return `${[
    `Simulating the Cluster Management API and the Database Server HTTP API (dialect ${simulator.dialect}).`,
    '',
    `Base URL:       ${server.baseURL}`,
    `Look at it:     ${server.baseURL}/`,
    'serverURL:      http://{host}:{port}',
    ...simulator.teams.map((team) => `Team, spaces:   ${team.id}: ${team.spaces.join(', ')}`),
    `Factory login:  ${username} / ${password}`,
    '',
    'Sample API tokens, for this simulator only:',
    `  ${'space'.padEnd(12)} ${'level'.padEnd(6)} ${'client id'.padEnd(18)} client secret`,
    ...tokens,
    '',
    'Ctrl-C ends it.',
  ].join('\n')}\n`;
}

function jsonText(simulator: Simulator, server: SimulatorServer): string {
  const { teams, defaultCredentials, dialect } = simulator;
  const { baseURL } = server;
  return `${JSON.stringify({ baseURL, serverURL: 'http://{host}:{port}', dialect, teams, defaultCredentials })}\n`;
}

function helpText(): string {
  const row = (flag: string, about: string, standard: unknown) =>
    [`--${flag}`, `${about}${standard === undefined || standard === false ? '' : ` (default ${standard})`}`] as const;
  return `${[
    'Usage: mooring simulate [flags]',
    '',
    'Serves simulations of both APIs on loopback, for trying things out and for tests.',
    '',
    helpRows(
      Object.entries(ABOUT).map(([flag, about]) => {
        const option = OPTIONS[flag as keyof typeof OPTIONS];
        return row(flag, about, 'default' in option ? option.default : undefined);
      }),
    ),
    '',
    'What the documents leave open (times such as 500ms, 3s, 1s-5s):',
    '',
    helpRows(
      Object.entries(KNOB_SPECS).map(([name, spec]) => {
        const choices = spec.kind === 'choice' ? `, one of ${spec.choices.join(', ')}` : '';
        return row(spec.flag, `${spec.about}${choices}`, formatKnob(spec, SIMULATE_KNOBS[name as keyof Knobs]));
      }),
    ),
  ].join('\n')}\n`;
}

function formatKnob(spec: KnobSpec, value: Knobs[keyof Knobs]): string {
  if (typeof value === 'object') return [...new Set(value)].map(formatDuration).join('-');
  return spec.kind === 'ms' && typeof value === 'number' ? formatDuration(value) : String(value);
}
