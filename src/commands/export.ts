import { databaseClusterDefinition } from '../kinds/databasecluster/schema.ts';
import { placeOf } from '../kinds/databasespace/place.ts';
import { type DatabaseSpaceSpec, databaseSpaceDefinition } from '../kinds/databasespace/schema.ts';
import { isForbidden, type KubeApi } from '../kube/api.ts';
import { UsageError } from '../plugin/command-line/arguments.ts';
import { clustersAt, exportText } from '../plugin/export.ts';
import { listAll } from '../plugin/inventory.ts';
import type { Item } from '../plugin/item.ts';
import { parseName } from '../plugin/kinds.ts';
import { cloudOf, readSpace } from '../plugin/space.ts';
import { onCluster } from './on-cluster.ts';
import { withOutside } from './outside.ts';

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
    const clusters = await withOutside({ api, io }, async (outside) => {
      const cloud = await cloudOf(outside, namespace, spec, io.signal);
      return cloud.list(io.signal);
    });
    const [spaces, items] = await objectsFor(api, namespace, spec, io.signal);
    const objects = clustersAt(placeOf(spec), spaces, items);
    const into = args.text('into') || namespace;
    const taken = items.filter((item) => item.metadata.namespace === into).map(({ metadata }) => metadata.name);
    io.stdout(exportText(clusters, objects, { namespace: into, space, unmanagedOnly: args.is('unmanaged'), taken }));
    return 0;
  },
});

/**
 * The DatabaseSpaces and DatabaseClusters that may stand for clusters of the space. Those of other namespaces may if the space admits
 * them, or if their DatabaseSpace names the same space in the cloud, which the caller may not be allowed to see.
 */
async function objectsFor(
  api: KubeApi,
  namespace: string,
  { allowedNamespaces }: DatabaseSpaceSpec,
  signal: AbortSignal,
): Promise<readonly [readonly Item[], readonly Item[]]> {
  const listed = (scope: string | undefined) =>
    Promise.all([
      listAll(api, databaseSpaceDefinition, scope, signal),
      listAll(api, databaseClusterDefinition, scope, signal),
    ]);
  try {
    return await listed(undefined);
  } catch (error) {
    const isAlone = (allowedNamespaces?.from ?? 'Same') === 'Same';
    if (isAlone && isForbidden(error)) return listed(namespace);
    throw error;
  }
}
