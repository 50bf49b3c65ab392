import { isatty } from 'node:tty';
import { parseArgs } from 'node:util';
import { aborted } from '../base/abort.ts';
import { argumentMistake } from '../base/argument-mistake.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { parseDuration } from '../base/duration.ts';
import { messageOf } from '../base/errors.ts';
import type { Command, CommandIO } from './command.ts';
import { createScreen, type Screen } from './demo/screen.ts';
import { tell } from './demo/story.ts';
import { startWorld, type World } from './demo/world.ts';

const HELP = `mooring demo: everything on this machine, from kubectl apply to a cluster that is ready.

It starts a Kubernetes API server, a simulated cloud and the operator, applies deploy/samples,
shows what happens, and runs until Ctrl-C. If the operator is killed meanwhile, it is started again.
At the end everything is removed.

Flags:
  --once              end when everything is Ready, with exit code 0; or with 1 and the reason, if
                      that cannot happen or takes too long
  --timeout 2m        how long that may take, not counting the start of the API server
  --kubeconfig FILE   use this cluster instead of starting one; also MOORING_TEST_KUBECONFIG. The
                      demo keeps to a namespace of its own there, and leaves the
                      CustomResourceDefinitions and roles behind
  --help              show this
`;

interface Settings {
  readonly once: boolean;
  readonly timeoutMs: number;
  readonly kubeconfig: string | undefined;
}

/** `mooring demo`. Exit code 1: it failed, or with --once did not get to the end. */
export const demo: Command = async (argv, io) => {
  let settings: Settings | 'help';
  try {
    settings = readSettings(argv, io.env);
  } catch (error) {
    io.stderr(`${messageOf(error)}\nTry mooring demo --help.\n`);
    return 2;
  }
  if (settings === 'help') {
    io.stdout(HELP);
    return 0;
  }
  const terminal = isatty(1);
  const color = terminal && (io.env['NO_COLOR'] ?? '') === '';
  const columns = terminal ? process.stdout.columns : undefined;
  const screen = createScreen({ write: io.stdout, terminal, color, columns, clock: systemClock });
  return run(settings, io, screen, systemClock);
};

function readSettings(argv: readonly string[], env: CommandIO['env']): Settings | 'help' {
  const { values } = parsed(argv);
  if (values.help) return 'help';
  const kubeconfig = values.kubeconfig ?? env['MOORING_TEST_KUBECONFIG'] ?? '';
  return {
    once: values.once,
    timeoutMs: parseDuration(values.timeout),
    kubeconfig: kubeconfig === '' ? undefined : kubeconfig,
  };
}

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  once: { type: 'boolean', default: false },
  timeout: { type: 'string', default: '2m' },
  kubeconfig: { type: 'string' },
} as const;

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS });
  } catch (error) {
    throw new Error(argumentMistake(error, Object.keys(OPTIONS)), { cause: error });
  }
}

async function run(settings: Settings, io: CommandIO, screen: Screen, clock: Clock): Promise<number> {
  const { env, signal } = io;
  const stack = new AsyncDisposableStack();
  try {
    screen.line('Mooring: from kubectl apply to a database cluster that is ready. All of it runs on this machine.');
    const world = await startWorld({ kubeconfig: settings.kubeconfig, env, clock, signal, screen, stack });
    const problem = await tell(world, { ...settings, env, clock, signal, screen, stack });
    if (settings.once) return problem === undefined ? 0 : 1;
    return await keepGoing(world, screen, signal);
  } catch (error) {
    if (signal.aborted) return settings.once ? 1 : 0;
    screen.line(`\n${screen.paint('bad', 'The demo failed.')} ${messageOf(error)}`);
    return 1;
  } finally {
    await end(stack, screen);
  }
}

/** If the operator ends more often than this, it is no accident. */
const MAX_RESTARTS = 10;

/** Goes on until aborted: restarts an operator that somebody kills to see what happens. */
async function keepGoing(world: World, screen: Screen, signal: AbortSignal): Promise<number> {
  for (let restarts = 0; ; restarts++) {
    const { operator } = world;
    await Promise.race([operator.ended, aborted(signal)]);
    if (signal.aborted) return 0;
    screen.line(
      `\nThe operator, process ${operator.pid}, has ended. The last lines of its log:\n${operator.lastLines()}`,
    );
    if (restarts === MAX_RESTARTS) return 1;
    screen.line('It is started again, as Kubernetes would do, and continues with what it finds.');
    await world.restartOperator();
    screen.line(`Its log:  ${world.operator.log}\n`);
  }
}

async function end(stack: AsyncDisposableStack, screen: Screen): Promise<void> {
  screen.line();
  try {
    await screen.step('Ending everything', () => stack.disposeAsync());
  } catch (error) {
    screen.line(`Not everything was removed: ${messageOf(error)}`);
  }
}
