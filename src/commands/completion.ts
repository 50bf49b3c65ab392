import { definitions } from '../kinds/definitions.ts';
import { completionsOf, SCRIPTS, type Sources } from '../plugin/command-line/completion.ts';
import { namesIn } from '../plugin/inventory.ts';
import type { Command, CommandTable } from './command.ts';
import { type ClusterCommand, onCluster } from './on-cluster.ts';

/** kubectl's words for "file names too" and "and no file names" (cobra's ShellCompDirectiveDefault and …NoFileComp). */
const [FILES, NO_FILES] = [':0', ':4'];

/** `mooring completion SHELL`: prints the script. */
export const completion: Command = async (argv, io) => {
  const [shell = ''] = argv;
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  const usage = `mooring completion bash|zsh|fish prints a script for that shell, such as:\nsource <(mooring completion bash)\n`;
  if (script === undefined) {
    const asked = shell === '--help' || shell === '-h';
    (asked ? io.stdout : io.stderr)(usage);
    return asked ? 0 : 2;
  }
  io.stdout(script);
  return 0;
};

/** `mooring __complete WORDS…`: prints what can come next, one a line; for the scripts and for kubectl. */
export const completeFrom =
  (commands: CommandTable): Command =>
  async (words, io) => {
    const sources: Sources = {
      commands: Object.entries(commands).flatMap(([name, { about }]) => (about === undefined ? [] : [name])),
      command: async (name) => {
        const loaded = Object.hasOwn(commands, name) ? await commands[name]?.load() : undefined;
        const definition: ClusterCommand | undefined =
          loaded !== undefined && 'definition' in loaded ? (loaded.definition as ClusterCommand) : undefined;
        return definition === undefined
          ? undefined
          : { flags: definition.flags, takes: definition.takes ?? 'nothing', kinds: definition.kinds };
      },
      kinds: definitions.map(({ singular }) => singular),
      names: (kind, connection) => namesOf(kind, connection, io),
    };
    const found = await completionsOf(words, sources);
    io.stdout(`${(found === 'files' ? [FILES] : [...found, NO_FILES]).join('\n')}\n`);
    return 0;
  };

/** `connection`: its flags. Returns nothing if the cluster cannot be asked, as nobody waits for an error here. */
async function namesOf(
  kind: string,
  connection: readonly string[],
  io: Parameters<Command>[1],
): Promise<readonly string[]> {
  const definition = definitions.find(({ singular, shortNames }) => singular === kind || shortNames.includes(kind));
  if (definition === undefined) return [];
  const names: string[] = [];
  const list = onCluster({
    name: '__complete',
    about: '',
    usage: [],
    flags: {},
    parse: () => undefined,
    async run(on) {
      names.push(...(await namesIn(on.api, definition, on.namespace, io.signal)));
      return 0;
    },
  });
  await list(connection, { ...io, stderr: () => {} });
  return names;
}
