import { systemClock } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import { databaseClusterDefinition } from '../kinds/databasecluster/schema.ts';
import { databaseSpaceDefinition } from '../kinds/databasespace/schema.ts';
import { UsageError } from '../plugin/arguments.ts';
import { exportText } from '../plugin/export.ts';
import { listAll, nodeName } from '../plugin/inventory.ts';
import { parseName } from '../plugin/kinds.ts';
import { cloudOf, readSpace } from '../plugin/space.ts';
import { onCluster } from './on-cluster.ts';
import { transportsFor } from './transports.ts';

/** `mooring export SPACE`: prints manifests for all clusters of a space. */
export const exportSpace = onCluster({
  name: 'export',
  about: 'prints manifests for all clusters of a space; applying them changes nothing in the cloud',
  usage: ['production', 'production --unmanaged', 'dbs/production --namespace platform --into shop'],
  takes: 'space',
  flags: {
    unmanaged: { type: 'boolean', about: 'only clusters that have no object' },
    into: { type: 'string', about: 'namespace for the manifests (default: that of the space)' },
  },
  parse({ words: [word = '', ...more] }) {
    if (more.length > 0) throw new UsageError('Name one DatabaseSpace');
    return { name: parseName(word, databaseSpaceDefinition) };
  },
  async run({ api, namespace, args, io }, { name }) {
    const space = { namespace, name };
    const spec = await readSpace(api, space, io.signal);
    const transports = transportsFor();
    try {
      const dependencies = { api, clock: systemClock, random: systemRandom, transport: transports.of };
      const cloud = await cloudOf(dependencies, namespace, spec, io.signal);
      const clusters = await cloud.list(io.signal);
      // Clusters of other namespaces can be in the space only if it admits them.
      const scope = (spec.allowedNamespaces?.from ?? 'Same') === 'Same' ? namespace : undefined;
      const items = await listAll(api, databaseClusterDefinition, scope, io.signal);
      const parent = nodeName(databaseSpaceDefinition.kind, `${namespace}/${name}`);
      const objects = items.filter((item) => item.parent === parent);
      const into = args.text('into') || namespace;
      const taken = items.filter((item) => item.metadata.namespace === into).map(({ metadata }) => metadata.name);
      io.stdout(exportText(clusters, objects, { namespace: into, space, unmanagedOnly: args.is('unmanaged'), taken }));
      return 0;
    } finally {
      await transports.close();
    }
  },
});
