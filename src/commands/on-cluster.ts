import { systemClock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { GROUP } from '../base/group.ts';
import { printable } from '../base/printable.ts';
import { HttpError, type HttpTransport } from '../base/transport.ts';
import { limitedTransport } from '../http/limited-transport.ts';
import { isBusy, KubeError } from '../kube/api.ts';
import { createKubeClient, type KubeClient } from '../kube/client.ts';
import { defaultKubeconfig, loadKubeConnection, NoKubeconfigError } from '../kube/connection/config.ts';
import { isHeaderText } from '../kube/connection/impersonation.ts';
import { eachOnce } from '../kube/warnings.ts';
import {
  type Arguments,
  CONNECTION_FLAGS,
  durationOf,
  type Flag,
  helpText,
  parseArguments,
  UsageError,
} from '../plugin/command-line/arguments.ts';
import type { Completable } from '../plugin/command-line/completion.ts';
import { INTERRUPTED } from '../plugin/command-line/exit-code.ts';
import { reachOf } from '../plugin/command-line/reach.ts';
import { type Screen, screenOn } from '../plugin/command-line/screen.ts';
import { type Style, styleFor } from '../plugin/command-line/text.ts';
import type { Command, CommandIO } from './command.ts';
import { kubeTransport } from './kube-clients.ts';
import { patientTransport } from './patient-transport.ts';
import { PLUGIN_AGENT } from './transports.ts';

/* What the commands have in common that a person runs against a cluster, with the person's own rights. */

export interface OnCluster {
  readonly api: KubeClient;
  /** The one in --namespace, or otherwise in the context. */
  readonly namespace: string;
  /** The flags that name this cluster, from `reachOf`. */
  readonly reach: string;
  readonly args: Arguments;
  /** Prints as text what others wrote, whatever is in it. */
  readonly io: CommandIO;
  readonly style: Style;
  /** Undefined: there is no terminal. */
  readonly screen: Screen | undefined;
  /** The columns of its window now; undefined: unknown. */
  readonly columns?: (() => number | undefined) | undefined;
}

/** `Asked`: what the arguments ask for. */
export interface ClusterCommand<Asked = unknown> {
  readonly name: string;
  readonly about: string;
  /** Lines for --help, without the command's name. */
  readonly usage: readonly string[];
  readonly flags: Readonly<Record<string, Flag>>;
  /** What its words are, for completion; default: nothing. */
  readonly takes?: Completable['takes'];
  /** Singular names of the kinds of these objects, for completion; default: all. */
  readonly kinds?: readonly string[];
  /** Called before anything is connected to: a mistake in the call is one wherever it is made. Throws UsageError. */
  parse(args: Arguments, io: CommandIO): Asked | Promise<Asked>;
  /** Returns the exit code. Throws UsageError for a wrong call that only the cluster can show. */
  run(on: OnCluster, asked: Asked): Promise<number>;
}

/** Returns the command as the program runs it (0 success, 1 failure, 2 wrong usage), with its definition and all of its flags. */
export function onCluster<Asked>(
  command: ClusterCommand<Asked>,
): Command & { readonly definition: ClusterCommand<Asked> } {
  const flags = { ...command.flags, ...CONNECTION_FLAGS };
  const run: Command = async (argv, terminal) => {
    const coloured = terminal.isTerminal === true && terminal.env['NO_COLOR'] === undefined;
    const io: CommandIO = {
      ...terminal,
      stdout: (text) => terminal.stdout(printable(text, coloured)),
      stderr: (text) => terminal.stderr(printable(text, coloured)),
    };
    if (argv.includes('--help') || argv.includes('-h')) {
      const usage = command.usage.map((line) => `mooring ${command.name} ${line}`.trimEnd());
      io.stdout(helpText(`mooring ${command.name}: ${command.about}.`, usage, flags));
      return 0;
    }
    try {
      const size = () => ({ rows: terminal.rows?.(), columns: terminal.columns?.() });
      const screen = terminal.isTerminal === true ? screenOn(terminal.stdout, size, coloured) : undefined;
      const columns = terminal.isTerminal === true ? terminal.columns : undefined;
      const args = parseArguments(argv, flags);
      const limitMs = requestTimeoutOf(args);
      const asked = await command.parse(args, io);
      const on = { args, io, style: styleFor(coloured), screen, columns };
      return await connected(on, limitMs, (connection) => command.run(connection, asked));
    } catch (error) {
      if (error instanceof UsageError) {
        io.stderr(`${error.message}\nTry mooring ${command.name} --help.\n`);
        // With that flag, 2 is an answer.
        return argv.includes('--exit-code') ? 1 : 2;
      }
      if (io.signal.aborted) {
        io.stderr('Interrupted.\n');
        return INTERRUPTED;
      }
      io.stderr(`${explained(error)}\n`);
      return 1;
    }
  };
  return Object.assign(run, { definition: { ...command, flags } });
}

async function connected(
  on: Omit<OnCluster, 'api' | 'namespace' | 'reach'>,
  limitMs: number | undefined,
  run: (on: OnCluster) => Promise<number>,
): Promise<number> {
  const { args, io } = on;
  // As in kubectl, a flag without a value, for example from an unset variable, counts as absent.
  const given = (flag: keyof typeof CONNECTION_FLAGS) => args.text(flag) || undefined;
  const as = given('as');
  const groups = args.texts('as-group');
  refuseControls({ as: as === undefined ? [] : [as], 'as-group': groups });
  const impersonation = {
    ...(as === undefined ? {} : { as }),
    ...(groups.length === 0 ? {} : { 'as-groups': groups }),
  };
  // As in kubectl, also in a pod, such as a runner's, whose own cluster is seldom the one that is meant.
  const kubeconfig = given('kubeconfig') ?? defaultKubeconfig(io.env);
  const tell = (text: string) => {
    if (on.screen?.say(text) !== true) io.stderr(text);
  };
  const connection = await loadKubeConnection(systemClock, kubeconfig, {
    context: given('context'),
    impersonation,
    tell,
    signal: io.signal,
  });
  const transport = kubeTransport(connection, CONNECTIONS, limitMs);
  try {
    const api = createKubeClient({
      server: connection.server,
      transport: inTurns(transport, limitMs),
      authorize: connection.authorize,
      userAgent: PLUGIN_AGENT,
      // Flux undoes what a manager whose name begins with kubectl has set, such as a pause.
      fieldManager: 'mooring-plugin',
      // In kubectl's words.
      onWarning: eachOnce(({ text }) => tell(`Warning: ${text}\n`)),
    });
    const reach = reachOf({ kubeconfig: given('kubeconfig'), context: given('context'), as, 'as-group': groups });
    return await run({ ...on, api, reach, namespace: given('namespace') ?? connection.namespace });
  } finally {
    await transport.close();
  }
}

/** Throws UsageError if the value of one of these flags cannot be sent to the API server. */
function refuseControls(values: Readonly<Record<string, readonly string[]>>): void {
  for (const [flag, texts] of Object.entries(values)) {
    const wrong = texts.find((text) => !isHeaderText(text));
    if (wrong !== undefined)
      throw new UsageError(
        `--${flag} cannot be ${JSON.stringify(wrong)}: leave out the end of the line, and other control characters`,
      );
  }
}

/** As in kubectl: a number alone counts seconds, and 0 means no limit. Throws UsageError. */
function requestTimeoutOf(args: Arguments): number | undefined {
  const text = args.text('request-timeout') || undefined;
  return text === undefined ? undefined : durationOf('request-timeout', /^\d+$/.test(text) ? `${text}s` : text);
}

/** For the many requests of a plan; more wait for their turn. */
const CONNECTIONS = 16;

/** The time limit of a request begins with its turn: a plan may read thousands of Secrets. Exported for its test. */
export function inTurns(transport: HttpTransport, limitMs: number | undefined): HttpTransport {
  return patientTransport(limitedTransport(limited(transport, limitMs), CONNECTIONS), systemClock);
}

function limited(transport: HttpTransport, limitMs: number | undefined): HttpTransport {
  if (limitMs === undefined) return transport;
  const timeouts = { headersMs: limitMs, bodyMs: limitMs, totalMs: limitMs };
  return (request) => transport({ ...request, timeouts });
}

const LOOKING: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** Names the role, if it is one of Mooring's, that gives the right in the API server's message. */
function roleFor(message: string): string {
  const [, verb = '', group] = /cannot (\w+) resource "[^"]*" in API group "([^"]*)"/.exec(message) ?? [];
  if (group !== GROUP) return ' (no role of Mooring has it)';
  const role = LOOKING.has(verb) ? 'mooring-view' : 'mooring-edit';
  return `, for example with the role ${role} (deploy/base/roles-for-people.yaml)`;
}

/** Somebody who has the right only elsewhere may have meant that place. */
function elsewhere(message: string): string {
  if (message.includes(' at the cluster scope')) return ', or leave out --all-namespaces';
  return message.includes(' in the namespace ') ? ', or name another namespace with --namespace' : '';
}

function toCheck({ isProxied }: HttpError): string {
  const proxy = isProxied ? ', the proxy (proxy-url of the kubeconfig, otherwise HTTPS_PROXY and NO_PROXY)' : '';
  return `Check --kubeconfig and --context${proxy}, and whether the cluster runs`;
}

const UNKNOWN =
  'The API server does not know who asks: the kubeconfig has no login, or a client certificate that has expired or is of another authority';

/** Returns the message of a failure, with what a person can do about it. */
export function explained(error: unknown): string {
  const message = messageOf(error).trim();
  if (error instanceof HttpError && error.kind !== 'tooLarge')
    return `The API server does not answer: ${message}\n${toCheck(error)}`;
  if (error instanceof NoKubeconfigError) return `${message}: name one with --kubeconfig or KUBECONFIG`;
  if (!(error instanceof KubeError)) return message;
  if (error.status === 403 && message.includes('"system:anonymous"')) return `${message}\n${UNKNOWN}`;
  if (error.status === 403) return `${message}\nYou lack a right: ask for it${roleFor(message)}${elsewhere(message)}`;
  // For a resource that it does not know, the API server names nothing.
  if (error.status === 404 && !/"[^"]+" not found/.test(message))
    return `${message}\nMooring's resources are not installed here: run mooring crds | kubectl apply --server-side -f -`;
  if (isBusy(error)) return `${message}\nThe API server is busy or not well (${error.status}): try again in a while`;
  if (error.status === 401) return `${message}\nThe API server does not accept this login: check the kubeconfig`;
  return message;
}
