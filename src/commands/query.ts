import { databaseClusterDefinition } from '../kinds/databasecluster/schema.ts';
import { type Arguments, UsageError } from '../plugin/command-line/arguments.ts';
import { parseName } from '../plugin/kinds.ts';
import { answerJson, answerText } from '../plugin/queries/answer.ts';
import { TRANSACTION_TYPES, withTypeHelp } from '../plugin/queries/query-type.ts';
import { sessionFor } from '../plugin/queries/server.ts';
import { onCluster } from './on-cluster.ts';
import { withOutside } from './outside.ts';

/** Flags of commands that work on a cluster's server. */
export const SERVER_FLAGS = {
  database: { type: 'string', short: 'd', about: 'database to query (default: the one named like the cluster)' },
  user: { type: 'string', short: 'u', about: 'DatabaseUser to sign in as (default: the only one of the cluster)' },
  server: {
    type: 'string',
    about: 'base URL of the server to use instead of the published one, such as a forwarded port',
  },
} as const;

/** Returns what --server says; undefined: the published one. Throws UsageError. */
export function serverOf(args: Arguments): string | undefined {
  const server = args.text('server');
  if (server === undefined || /^https?:$/.test(URL.parse(server)?.protocol ?? '')) return server;
  throw new UsageError(`--server cannot be "${server}": write it like https://127.0.0.1:8443`);
}

/** `mooring query CLUSTER "…"`: runs one query in a transaction of its own. */
export const query = onCluster({
  name: 'query',
  about: 'runs one query with the login of a DatabaseUser',
  usage: ["orders 'match $p isa person;' --database people", "orders --type write 'insert $p isa person;'"],
  takes: 'cluster',
  flags: {
    ...SERVER_FLAGS,
    type: {
      type: 'string',
      short: 't',
      about: 'read (default), write or schema; write and schema are committed',
      values: TRANSACTION_TYPES,
    },
    output: { type: 'string', short: 'o', about: 'json instead of text', values: ['json'] },
  },
  parse(args) {
    const [word = '', text, ...more] = args.words;
    if (text === undefined || text.trim() === '' || more.length > 0)
      throw new UsageError('Name a DatabaseCluster and one query in quotes');
    const cluster = parseName(word, databaseClusterDefinition);
    const type = TRANSACTION_TYPES.find((each) => each === (args.text('type') ?? 'read'));
    const output = args.text('output');
    // Integers that YAML readers would round are digits in JSON.
    if (output !== undefined && output !== 'json') throw new UsageError(`--output cannot be "${output}": use json`);
    if (type === undefined)
      throw new UsageError(`--type cannot be "${args.text('type')}": use ${TRANSACTION_TYPES.join(', ')}`);
    return { cluster, text, type, output, server: serverOf(args) };
  },
  async run({ api, namespace, reach, args, io }, { cluster, text, type, output, server }) {
    const target = { namespace, cluster, user: args.text('user'), server, reach };
    const request = {
      databaseName: args.text('database') ?? cluster,
      transactionType: type,
      query: text,
      commit: type !== 'read',
    };
    const answer = await withOutside({ api, io }, async (outside) => {
      const session = await sessionFor(outside, target, io.signal);
      return session
        .use((client, token) => client.oneShotQuery(token, request, io.signal), io.signal)
        .catch((error: unknown) => {
          if (io.signal.aborted)
            io.stderr(`The server may still be running it${type === 'read' ? '' : ', and keep what it changes'}.\n`);
          throw withTypeHelp(error, text, type, (needed) => `add --type=${needed}`);
        });
    });
    io.stdout(output === 'json' ? answerJson(answer) : answerText(answer));
    return 0;
  },
});
