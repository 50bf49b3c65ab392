import { createInterface } from 'node:readline/promises';
import { systemClock } from '../base/clock.ts';
import { databaseClusterDefinition } from '../kinds/databasecluster/schema.ts';
import { UsageError } from '../plugin/command-line/arguments.ts';
import { parseName } from '../plugin/kinds.ts';
import { sessionFor } from '../plugin/queries/server.ts';
import { converse, interrupt, SHELL_HELP, Shell, suspend } from '../plugin/queries/shell.ts';
import { onCluster } from './on-cluster.ts';
import { withOutside } from './outside.ts';
import { SERVER_FLAGS, serverOf } from './query.ts';

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
  run({ api, namespace, reach, args, io }, { cluster, server }) {
    const target = { namespace, cluster, user: args.text('user'), server, reach };
    return withOutside({ api, io }, async (outside) => {
      const session = await sessionFor(outside, target, io.signal);
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
      // Everything in the terminal's foreground, as kubectl and other wrappers are in its way.
      const job = { setRawMode: (isRaw: boolean) => input.setRawMode(isRaw), stop: () => process.kill(0, 'SIGTSTP') };
      lines.on('SIGTSTP', () => {
        void suspend(job, systemClock, () => {
          // What was typed is still there.
          if (!prompting.isRunning) lines.prompt(true);
        });
      });
      const code = await converse(prompting, lines, { ...io, ask });
      lines.close();
      return code;
    });
  },
});
