import { dump } from 'js-yaml';
import { API_VERSION } from '../base/group.ts';
import { AS_KUBECTL } from '../base/kubectl-yaml.ts';
import { printableCell } from '../base/printable.ts';
import type { Cluster } from '../cloud/schema.ts';
import { machineTypes } from '../kinds/databasecluster/offerings.ts';
import { CLUSTER_ID, databaseClusterDefinition, MAX_CLUSTER_ID } from '../kinds/databasecluster/schema.ts';
import { isSamePlace, type Place } from '../kinds/databasespace/place.ts';
import { placeNamedBy } from '../kinds/databasespace/places.ts';
import { type Item, nameOf } from './item.ts';

export interface ExportOptions {
  /** Where the manifests will be applied. */
  readonly namespace: string;
  /** The DatabaseSpace. */
  readonly space: { readonly namespace: string; readonly name: string };
  /** Only clusters that no object stands for. */
  readonly unmanagedOnly: boolean;
  /** Names that other DatabaseClusters already have there. */
  readonly taken?: readonly string[];
}

/** Reports whether the API server accepts the id, by the same rule as in CEL. */
const isPossible = (id: string) => CLUSTER_ID.test(id) && id.length <= MAX_CLUSTER_ID;

const ABOUT = `Clusters without an object are only observed: applying this changes nothing
# in the cloud. To let Mooring manage one, remove its line managementPolicy: Observe. If its login is not the one that new
# clusters come with, also name a Secret with it in adminCredentials.existingSecretRef.
`;

/** Manifests for the space's clusters: as declared if an object stands for them, otherwise to adopt them. No secrets. */
export function exportText(clusters: readonly Cluster[], objects: readonly Item[], options: ExportOptions): string {
  // One that stands for a cluster takes the place of those that only want it.
  const ownersLast = objects.toSorted((one, other) => Number(hasCluster(one)) - Number(hasCluster(other)));
  const owners = new Map(ownersLast.map((item) => [idOf(item), item]));
  const names = new Set([...objects.map(({ metadata }) => metadata.name), ...(options.taken ?? [])]);
  const sorted = clusters.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const documents = sorted.flatMap((cluster) => {
    const owner = owners.get(cluster.id);
    if (owner === undefined)
      return isPossible(cluster.id) ? [adopted(cluster, nameFor(cluster.id, names), options)] : [];
    return options.unmanagedOnly ? [] : [asDeclared(owner)];
  });
  const left = sorted
    .flatMap(({ id }) => {
      const why = whyLeftOut(id, owners.get(id), options);
      return why === undefined ? [] : [`# Left out, as ${why}\n`];
    })
    .join('');
  if (clusters.length === 0) return '# Nothing: the space has no clusters.\n';
  if (documents.length === 0) return left === '' ? '# Nothing: every cluster of the space has an object.\n' : left;
  const which = options.unmanagedOnly ? ' that has no object, as a manifest.\n#' : ' as a manifest.';
  const how = { schema: AS_KUBECTL, lineWidth: 120, noRefs: true };
  const manifests = documents.map((each) => `---\n${dump(each, how)}`).join('');
  return `# Every cluster of the space${which} ${ABOUT}${left}${manifests}`;
}

function whyLeftOut(id: string, owner: Item | undefined, { unmanagedOnly }: ExportOptions): string | undefined {
  const cluster = `cluster ${printableCell(JSON.stringify(id))}`;
  if (owner === undefined) return isPossible(id) ? undefined : `no object can name it: ${cluster}`;
  if (!unmanagedOnly || hasCluster(owner)) return undefined;
  return `an object names it and is not in charge of it: ${cluster}, ${nameOf(owner)}`;
}

/** The clusters of all DatabaseSpaces that name the place: the operator counts these too. */
export function clustersAt(place: Place, spaces: readonly Item[], clusters: readonly Item[]): readonly Item[] {
  const names = new Set(
    spaces
      .filter((space) => {
        const named = placeNamedBy(space);
        return named !== undefined && isSamePlace(named, place);
      })
      .map(nameOf),
  );
  return clusters.filter(({ parent }) => parent !== undefined && names.has(parent));
}

/** Reports whether the object stands for a cluster, and does not only want one. */
function hasCluster({ status }: Item): boolean {
  return status['clusterID'] !== undefined;
}

/** The id of the cluster that the object stands for or wants. */
function idOf({ metadata, spec, status }: Item): string {
  return String(status['clusterID'] ?? spec['clusterID'] ?? metadata.name);
}

function asDeclared({ metadata, spec }: Item): object {
  const { namespace = '', name } = metadata;
  return { apiVersion: API_VERSION, kind: databaseClusterDefinition.kind, metadata: { name, namespace }, spec };
}

function adopted(cluster: Cluster, name: string, { namespace, space }: ExportOptions): object {
  const { id, provider, region, machineType, storageSizeGB, serverCount, isFree, version, status } = cluster;
  const listed = machineTypes.some((type) => type.name === machineType && type.regions.includes(region ?? ''));
  const spec = {
    spaceRef: { name: space.name, ...(space.namespace === namespace ? {} : { namespace: space.namespace }) },
    ...(name === id ? {} : { clusterID: id }),
    provider,
    region,
    machineType,
    storageSizeGB,
    serverCount,
    isFree,
    version,
    state: status === 'suspended' || status === 'suspending' ? 'Suspended' : 'Running',
    adoptionPolicy: 'MustExist',
    managementPolicy: 'Observe',
    ...(listed ? {} : { allowUnlisted: true }),
  };
  const known = Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined));
  return {
    apiVersion: API_VERSION,
    kind: databaseClusterDefinition.kind,
    metadata: { name, namespace },
    spec: known,
  };
}

/** An id may have underscores, which a name cannot, and another object may already have the name. */
function nameFor(id: string, taken: Set<string>): string {
  const wanted = id
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/-$/, '');
  let name = wanted;
  for (let count = 2; taken.has(name); count++) name = `${wanted}-${count}`;
  taken.add(name);
  return name;
}
