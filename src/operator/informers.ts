import { messageOf } from '../base/errors.ts';
import { Seldom } from '../base/seldom.ts';
import { DATABASES } from '../kinds/database/resource.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { DATABASE_SPACES } from '../kinds/databasespace/resource.ts';
import { DATABASE_USERS } from '../kinds/databaseuser/resource.ts';
import { type AnyObject, CONFIG_MAPS, isNotFound, KubeError, type Resource, SECRETS } from '../kube/api.ts';
import { type KubeObject, LAST_APPLIED, withoutManagedFields } from '../kube/object.ts';
import { Informer, type InformerOptions } from '../runtime/informer.ts';
import { absentIsEmpty, type FirstLists } from './first-lists.ts';
import { metByAll } from './refused-login.ts';
import { SecretReads } from './secret-reads.ts';

/** Each namespace's watch asks for a missing CRD twice a minute: one line in this time is enough. */
const TELL_MISSING_EVERY_MS = 600_000;

/** One informer per collection, shared by everything that needs it. */
export interface Informers {
  readonly spaces: Informer<KubeObject>;
  readonly clusters: Informer<KubeObject>;
  readonly users: Informer<KubeObject>;
  readonly databases: Informer<KubeObject>;
  readonly secrets: Informer<AnyObject> | SecretReads;
  readonly configMaps: Informer<AnyObject>;
}

/** What the informers are made with: the seams, the watched namespaces, and where failures are reported. */
export type InformerDependencies = Pick<InformerOptions<AnyObject>, 'api' | 'clock' | 'random' | 'namespaces'> & {
  /** How to learn about Secrets: `get` neither lists nor watches them. Default: watch. */
  readonly secrets?: 'watch' | 'get' | undefined;
  readonly log: { warn(fields: object, message: string): void };
  /** Called when a list or watch of the collection failed. Returns whether to log that. */
  readonly onWatchFailure: (plural: string, error: unknown) => boolean;
  /** Hears why a list has not come yet. */
  readonly firstLists?: Pick<FirstLists, 'failed'> | undefined;
};

export function createInformers(dependencies: InformerDependencies): Informers {
  const ours = (resource: Resource) => informer(dependencies, resource, withoutBallast);
  const metadata = (resource: Resource) => informer(dependencies, resource, metadataOf);
  return {
    spaces: ours(DATABASE_SPACES),
    clusters: ours(DATABASE_CLUSTERS),
    users: ours(DATABASE_USERS),
    databases: ours(DATABASES),
    secrets: dependencies.secrets === 'get' ? new SecretReads(dependencies.api, metadataOf) : metadata(SECRETS),
    configMaps: metadata(CONFIG_MAPS),
  };
}

/** Any of the informers, by the plural name of what it lists. */
export interface Collection {
  readonly plural: string;
  readonly informer: Pick<Informer<AnyObject>, 'run' | 'synced'> & {
    readonly unsynced: ReadonlySet<string | undefined>;
    readonly store: { readonly size: number };
  };
}

export function collectionsOf(informers: Informers): readonly Collection[] {
  const { spaces, clusters, users, databases, secrets, configMaps } = informers;
  return [
    { plural: DATABASE_SPACES.plural, informer: spaces },
    { plural: DATABASE_CLUSTERS.plural, informer: clusters },
    { plural: DATABASE_USERS.plural, informer: users },
    { plural: DATABASES.plural, informer: databases },
    ...(secrets instanceof SecretReads ? [] : [{ plural: SECRETS.plural, informer: secrets }]),
    { plural: CONFIG_MAPS.plural, informer: configMaps },
  ];
}

function informer<T extends AnyObject>(
  dependencies: InformerDependencies,
  resource: Resource,
  transform: (object: AnyObject) => T,
): Informer<T> {
  const { api, log, clock, onWatchFailure, firstLists } = dependencies;
  const told = new Seldom(clock, TELL_MISSING_EVERY_MS);
  const made: Informer<T> = new Informer({
    ...dependencies,
    resource,
    metadataOnly: resource === SECRETS || resource === CONFIG_MAPS,
    transform,
    onFailure: (error, retryInMs, namespace) => {
      const hint = hintOf(error, resource, namespace);
      firstLists?.failed(resource.plural, namespace, hint);
      // Handlers hear of what is gone: the mistake of one must not end the process.
      absentIsEmpty(api, made, namespace, error).catch((err) => log.warn({ namespace, err }, messageOf(err)));
      if (!onWatchFailure(resource.plural, error) || (isNotFound(error) && !told.isDue('missing'))) return;
      log.warn(
        { resource: resource.plural, namespace, retryInMs: Math.round(retryInMs) },
        `Cannot watch ${resource.plural}, trying again: ${hint}${metByAll(error) === undefined ? '' : '. The same failure of other kinds is not logged'}`,
      );
    },
  });
  return made;
}

/** Returns what a person can do about a watch that fails. */
function hintOf(error: unknown, resource: Resource, namespace: string | undefined): string {
  const message = messageOf(error).trim();
  if (!(error instanceof KubeError)) return message;
  if (isNotFound(error))
    return `the API server has no resource ${resource.plural}.${resource.group}: install it with mooring crds | kubectl apply --server-side -f -`;
  if (error.status === 401)
    return `the API server does not accept this operator's login (401): its token is wrong or has expired, so give it a new one`;
  if (error.status === 403) {
    const otherwise = resource === SECRETS ? ', or start it with --secrets=get' : '';
    const role =
      namespace === undefined
        ? ''
        : `. If namespace ${namespace} was deleted, its Role went with it: take it out of --namespaces`;
    return `${message} (403): the operator lacks a right, see its roles in deploy/base/rbac.yaml${otherwise}${role}`;
  }
  return message;
}

/** Drops managed fields, and what kubectl apply keeps: the whole spec again. The cast is the parse border: kinds parse what they read. */
export function withoutBallast(object: AnyObject): KubeObject {
  const { metadata, ...rest } = withoutManagedFields(object);
  const { [LAST_APPLIED]: applied, ...annotations } = metadata.annotations ?? {};
  return {
    ...rest,
    metadata: applied === undefined ? metadata : { ...metadata, annotations },
  } as unknown as KubeObject;
}

/** Keeps of a Secret or ConfigMap only that it exists, its version, whether it is being deleted, and its finalizers. */
function metadataOf({ metadata }: AnyObject): AnyObject {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, finalizers } = metadata;
  const optional = {
    ...(namespace === undefined ? {} : { namespace }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(finalizers === undefined ? {} : { finalizers }),
  };
  return { metadata: { name, uid, resourceVersion, ...optional } };
}
