import * as z from 'zod';
import type { Immutable } from '../../base/immutable.ts';
import type { ResourceDefinition } from '../../kube/definition.ts';
import { allowedNamespaces } from '../label-schema.ts';
import {
  AGE_COLUMN,
  deletionColumn,
  durationText,
  immutable,
  immutableScalar,
  loginSecretRef,
  objectName,
  objectReference,
  READY_COLUMNS,
  rules,
} from '../shared-schema.ts';
import { clusterRules, OTHER_CLUSTER, specRules } from './rules.ts';
import { status } from './status.ts';

/**
 * Deploy request fields: "only lowercase alphanumeric characters, optionally separated by underscores and hyphens". That does
 * not say whether several may stand together, so they may: the cloud can still refuse an id, but could not allow one that we refuse.
 */
export const CLUSTER_ID = /^[a-z0-9]+([_-]+[a-z0-9]+)*$/;
export const MAX_CLUSTER_ID = 253;

function clusterID() {
  return z
    .string()
    .min(1)
    .max(MAX_CLUSTER_ID)
    .meta(
      rules({
        rule: `self.matches('${CLUSTER_ID.source}')`,
        message: 'must be lowercase letters and digits, separated by hyphens or underscores, such as orders-eu',
      }),
    );
}

const backup = z.object({
  frequency: z
    .enum(['disabled', 'hourly', 'daily'])
    .describe('How often a backup is made: disabled, hourly or daily. A free cluster accepts only disabled.'),
  retentionDays: z
    .int()
    .meta(
      rules({
        rule: 'self in [7, 30]',
        message: 'retentionDays must be 7 or 30',
      }),
    )
    .optional()
    .describe('How many days a backup is kept: 7 or 30. Default: 7.'),
});

const cloneFrom = z
  .object({
    clusterRef: z
      .object({ name: objectName().describe('Name of the DatabaseCluster.') })
      .optional()
      .describe('The source, as a DatabaseCluster in the same namespace and space.'),
    clusterID: clusterID()
      .optional()
      .describe(
        'The source, as the id of any cluster in the same space. If a DatabaseCluster in another namespace has it, the ' +
          'allowedNamespaces of that one must admit this namespace.',
      ),
  })
  .meta(
    rules(
      {
        rule: 'has(self.clusterRef) != has(self.clusterID)',
        message: 'cloneFrom needs exactly one of clusterRef and clusterID: set one, remove the other',
      },
      immutable('cloneFrom', OTHER_CLUSTER),
    ),
  );

const adminCredentials = z.object({
  secretName: objectName()
    .optional()
    .describe(
      'Name of the Secret to which the operator writes the login of the default user, with keys username and password. ' +
        'Default: <name of this object>-admin.',
    ),
  existingSecretRef: loginSecretRef()
    .optional()
    .describe(
      'The login that a cloned or adopted cluster already has, if it is not the one that new clusters come with. The ' +
        'Secret is read once, to set a generated password, and never changed.',
    ),
  rotateEvery: durationText('rotateEvery', '10m')
    .optional()
    .describe(
      'How often the password is replaced by a new one, such as 2160h, at least 10m. Absent: never automatically.',
    ),
});

const NEEDED_TO_DEPLOY = 'Required to deploy a cluster; optional for one that is cloned, adopted or only observed.';

const spec = z
  .object({
    spaceRef: objectReference('DatabaseSpace')
      .meta(rules(immutable('spaceRef', OTHER_CLUSTER)))
      .describe('The DatabaseSpace that the cluster is in. Immutable.'),
    clusterID: clusterID()
      .optional()
      .describe(
        'Id of the cluster in the cloud, unique in its space: lowercase letters and digits, separated by hyphens or ' +
          'underscores. Default: the name of this object. Changing it renames the cluster in the cloud.',
      ),
    provider: z
      .string()
      .min(1)
      .max(63)
      .meta(rules(immutableScalar('provider', OTHER_CLUSTER)))
      .optional()
      .describe(`Cloud provider that the cluster runs on: gcp or aws. Immutable. ${NEEDED_TO_DEPLOY}`),
    region: z
      .string()
      .min(1)
      .max(63)
      .meta(rules(immutableScalar('region', OTHER_CLUSTER)))
      .optional()
      .describe(`Region of the provider, such as europe-west2. Immutable. ${NEEDED_TO_DEPLOY}`),
    machineType: z
      .string()
      .min(1)
      .max(63)
      .optional()
      .describe(
        `Machine type of each server, such as c2d-highcpu-4 or c7g.large. What is available depends on the region. ${NEEDED_TO_DEPLOY}`,
      ),
    storageType: z
      .string()
      .min(1)
      .max(63)
      .meta(rules(immutableScalar('storageType', OTHER_CLUSTER)))
      .optional()
      .describe(
        'Storage type. Default: by provider (gcp: standard-rwo, aws: gp2-csi). Immutable. Never compared with what the ' +
          'cloud reports, as the cloud may give the same type another name.',
      ),
    storageSizeGB: z
      .int()
      .min(10)
      .max(1000)
      .optional()
      .describe(`Storage of each server in GB, 10 to 1000; 10 for a free cluster. ${NEEDED_TO_DEPLOY}`),
    serverCount: z
      .int()
      .min(1)
      .max(9)
      .meta(
        rules(
          {
            rule: 'self % 2 == 1',
            message: 'serverCount must be an odd number from 1 to 9',
          },
          immutableScalar('serverCount', OTHER_CLUSTER),
        ),
      )
      .default(1)
      .describe(
        'Number of servers: odd, 1 to 9. From version 3.0 on, it must be 1. For a cluster that is cloned, adopted or only ' +
          'observed: as many as it, or the source, has. Immutable.',
      ),
    isFree: z
      .boolean()
      .meta(rules(immutableScalar('isFree', OTHER_CLUSTER)))
      .default(false)
      .describe(
        'Whether it is a free cluster; a team may have one. It needs a free machine type (c2d-highcpu-2, ' +
          'c7g.large or c8g.large), 1 server, 10 GB and no backups. Set it also for one that is adopted or only observed. Immutable.',
      ),
    version: z
      .string()
      .min(1)
      .max(63)
      .meta(rules(immutableScalar('version', OTHER_CLUSTER)))
      .optional()
      .describe(
        'Version of the database: one of status.availableVersions of the DatabaseSpace, or latest, which is resolved ' +
          `once, when the cluster is deployed, and kept in status.version. Immutable. ${NEEDED_TO_DEPLOY}`,
      ),
    backup: backup
      .optional()
      .describe(
        'Backup settings. The cloud does not report them, so a change made there is not seen. Absent: a new cluster ' +
          'gets daily backups kept for 7 days (a free one gets none), and an existing cluster keeps what it has.',
      ),
    state: z
      .enum(['Running', 'Suspended'])
      .default('Running')
      .describe('Running, or Suspended: the servers are stopped, the data is kept.'),
    cloneFrom: cloneFrom
      .optional()
      .describe(
        'Creates the cluster as a clone of another one instead of empty. Ignored once the cluster exists. Immutable.',
      ),
    adoptionPolicy: z
      .enum(['Never', 'IfExists', 'MustExist'])
      .default('Never')
      .describe(
        "What happens if a cluster with this id already exists. Never: it counts as somebody else's and is left alone. " +
          'IfExists: it is taken over; if there is none, one is created. MustExist: it is taken over; none is ever created.',
      ),
    recreatePolicy: z
      .enum(['Never', 'Always'])
      .default('Never')
      .describe(
        'What happens when the cluster has vanished from the cloud. Never: this is only reported. Always: a new, EMPTY one is created.',
      ),
    driftPolicy: z
      .enum(['Revert', 'Report'])
      .default('Revert')
      .describe(
        'What happens when the cluster has been changed elsewhere. Revert: it is set back to this spec. Report: the ' +
          'difference is shown in status.drift, and nothing is changed until this spec changes.',
      ),
    managementPolicy: z
      .enum(['Manage', 'Observe'])
      .default('Manage')
      .describe('Manage: the cluster is kept as this spec says. Observe: it is only looked at, never changed.'),
    deletionPolicy: z
      .enum(['Retain', 'Suspend', 'Delete'])
      .default('Retain')
      .describe(
        'What deleting this object does to the cluster. Retain: nothing. Suspend: it is suspended and kept. Delete: it ' +
          'is destroyed with all its data.',
      ),
    deletionProtection: z
      .boolean()
      .default(false)
      .describe(
        'true: deleting this object waits until this is false. The cluster stays as it is; only its login is looked after.',
      ),
    adminCredentials: adminCredentials.optional().describe("The login of the cluster's default user."),
    allowedNamespaces: allowedNamespaces(
      'Namespaces that may place DatabaseUsers and Databases on this cluster, and clone it by its id.',
    ).optional(),
    allowUnlisted: z
      .boolean()
      .default(false)
      .describe(
        'true: accepts providers, regions, machine types, storage types and numbers of servers that Mooring does not ' +
          'list, and lets the cloud decide. For new offerings of the cloud.',
      ),
  })
  .meta(rules(...specRules))
  .describe('What the cluster should be.');

export type DatabaseClusterSpec = Immutable<z.output<typeof spec>>;
export type DatabaseClusterStatus = Immutable<z.output<typeof status>>;

export const databaseClusterDefinition: ResourceDefinition<DatabaseClusterSpec, DatabaseClusterStatus> = {
  kind: 'DatabaseCluster',
  plural: 'databaseclusters',
  singular: 'databasecluster',
  shortNames: ['dbc'],
  categories: ['mooring'],
  description: 'A DatabaseCluster is one cluster in a space of the cloud.',
  spec,
  status,
  rules: clusterRules,
  printerColumns: [
    ...READY_COLUMNS,
    { name: 'State', type: 'string', jsonPath: '.status.state', description: 'Its state, as the cloud reports it.' },
    { name: 'Version', type: 'string', jsonPath: '.status.version', description: 'Version of the database.' },
    { name: 'Endpoint', type: 'string', jsonPath: '.status.endpoint', description: 'HTTP base URL.', priority: 1 },
    {
      name: 'Machine',
      type: 'string',
      jsonPath: '.status.observed.machineType',
      description: 'Machine type that the cloud reports.',
      priority: 1,
    },
    {
      name: 'Storage',
      type: 'integer',
      jsonPath: '.status.observed.storageSizeGB',
      description: 'Storage in GB that the cloud reports.',
      priority: 1,
    },
    deletionColumn('cluster'),
    AGE_COLUMN,
  ],
};
