import { createInterface } from 'node:readline/promises';
import { systemClock } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import { databaseClusterDefinition } from '../kinds/databasecluster/schema.ts';
import { UsageError } from '../plugin/arguments.ts';
import { parseName } from '../plugin/kinds.ts';
import { sessionFor } from '../plugin/server.ts';
import { converse, interrupt, SHELL_HELP, Shell } from '../plugin/shell.ts';
import { onCluster } from './on-cluster.ts';
import { SERVER_FLAGS, serverOf } from './query.ts';
import { PLUGIN_AGENT, transportsFor } from './transports.ts';

/** `mooring shell CLUSTER`: runs queries, one after the other, from a terminal or from standard input. */
export const shell = onCluster({
  name: 'shell',
  about: 'runs queries one after the other with the login of a DatabaseUser, also in transactions',
  usage: ['orders', 'orders --database people --user app'],
  takes: 'cluster',
  flags: SERVER_FLAGS,
  parse(args) {
    const [word = '', ...more] = args.words;
    if (more.length > 0) throw new UsageError('Name one DatabaseCluster');
    return { cluster: parseName(word, databaseClusterDefinition), server: serverOf(args) };
  },
  async run({ api, namespace, args, io }, { cluster, server }) {
    const transports = transportsFor(PLUGIN_AGENT);
    try {
      const dependencies = { api, clock: systemClock, random: systemRandom, transport: transports.of };
      const target = { namespace, cluster, user: args.text('user'), server };
      const session = await sessionFor(dependencies, target, io.signal);
      // Only now: lines that arrive while nobody reads them are lost.
      const { stdin: input, stdout: output } = process;
      const lines = createInterface({ input, output, terminal: io.isTerminal === true, signal: io.signal });
      const prompting = new Shell(session, args.text('database') ?? cluster);
      if (io.isTerminal === true) io.stdout(SHELL_HELP);
      const ask = () => {
        if (io.isTerminal !== true) return;
        lines.setPrompt(prompting.prompt);
        lines.prompt();
      };
      lines.on('SIGINT', () => {
        const isDue = interrupt(lines, prompting);
        io.stdout('\n');
        if (isDue) ask();
      });
      const code = await converse(prompting, lines, { ...io, ask });
      lines.close();
      return code;
    } finally {
      await transports.close();
    }
  },
});
