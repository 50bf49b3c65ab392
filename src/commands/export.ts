import { systemClock } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import { databaseSpaceDefinition } from '../kinds/databasespace/schema.ts';
import { exportText } from '../plugin/export.ts';
import { loadInventory, nodeName } from '../plugin/inventory.ts';
import { parseTarget } from '../plugin/kinds.ts';
import { cloudOf, readSpace } from '../plugin/space.ts';
import { onCluster } from './on-cluster.ts';
import { transportsFor } from './transports.ts';

/** `mooring export SPACE`: manifests for all clusters of a space. */
export const exportSpace = onCluster({
  name: 'export',
  about: 'prints manifests for all clusters of a space; applying them changes nothing in the cloud',
  usage: ['production', 'production --unmanaged', 'dbs/production --namespace platform --into shop'],
  takes: 'space',
  flags: {
    unmanaged: { type: 'boolean', about: 'only clusters that no object stands for' },
    into: { type: 'string', about: 'namespace for the manifests; otherwise that of the space' },
  },
  async run({ api, namespace, args, io }) {
    const [word = ''] = args.words;
    const { name } = parseTarget(word.includes('/') || args.words.length !== 1 ? args.words : ['dbs', word]);
    const space = { namespace, name };
    const spec = await readSpace(api, space, io.signal);
    const transports = transportsFor();
    try {
      const dependencies = { api, clock: systemClock, random: systemRandom, transport: transports.of };
      const cloud = await cloudOf(dependencies, namespace, spec, io.signal);
      const clusters = await cloud.list(io.signal);
      const { items } = await loadInventory(api, undefined, io.signal);
      const parent = nodeName(databaseSpaceDefinition.kind, `${namespace}/${name}`);
      const objects = items.filter((item) => item.parent === parent);
      const into = args.text('into') ?? namespace;
      io.stdout(exportText(clusters, objects, { namespace: into, space, unmanagedOnly: args.is('unmanaged') }));
      return 0;
    } finally {
      await transports.close();
    }
  },
});
