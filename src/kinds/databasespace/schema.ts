import * as z from 'zod';
import type { Immutable } from '../../base/immutable.ts';
import type { ResourceDefinition, ValidationRule } from '../../kube/definition.ts';
import { allowedNamespaces } from '../label-schema.ts';
import {
  AGE_COLUMN,
  commonStatus,
  durationText,
  loginSecretRef,
  objectName,
  READY_COLUMNS,
  rules,
  secretKey,
  textWith,
} from '../shared-schema.ts';

/** No user information, query or fragment: credentials belong in Secrets, paths are appended. No value in the message: it may be secret. */
const HTTP_URL = '^https?://[^/?#@[:space:]]+(/[^?#[:space:]]*)?$';

const apiToken = z.object({
  level: z.enum(['read', 'write', 'admin']).describe('Access level of the token: read, write or admin.'),
  secretRef: z
    .object({
      name: objectName().describe('Name of the Secret, in the same namespace.'),
      clientIDKey: secretKey().optional().describe('Key that holds the client id. Default: clientID.'),
      clientSecretKey: secretKey().optional().describe('Key that holds the client secret. Default: clientSecret.'),
    })
    .describe("The Secret that holds the token's client id and client secret."),
});

/** One segment of a path in the cloud's interface. */
function pathSegment(example: string) {
  return z
    .string()
    .min(1)
    .max(253)
    .meta(
      rules({
        rule: `self.matches('^[^/?#%[:space:][:cntrl:]]+$') && self != '.' && self != '..'`,
        message: `must be an id as the cloud shows it, without spaces, /, ?, # or %, such as ${example}`,
      }),
    );
}

const spec = z
  .object({
    baseURL: z
      .string()
      .min(1)
      .max(1024)
      .meta(
        rules({
          rule: `self.matches('${HTTP_URL}') && isURL(self)`,
          message:
            'baseURL must be an http or https URL without user information, query or fragment, such as https://cloud.example.com',
        }),
      )
      .describe(
        'Base URL of the Cluster Management API, such as https://cloud.example.com. It must be https, unless the host ' +
          'is loopback or the operator runs with --allow-http.',
      ),
    teamID: pathSegment('acme').describe(
      "The team, as in the cloud's URLs. Can change only while no cluster is managed through this object.",
    ),
    spaceID: pathSegment('production').describe(
      "The space of the team, as in the cloud's URLs. Can change only while no cluster is managed through this object.",
    ),
    apiTokens: z
      .array(apiToken)
      .min(1)
      .max(3)
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['level'] })
      .describe(
        'API tokens for the space, at most one per level. Each call uses the lowest level that is enough for it, or the ' +
          'next higher one if that is missing, so one token can serve for all. Without admin, nothing can be destroyed.',
      ),
    defaultCredentialsSecretRef: loginSecretRef().describe(
      'The Secret that holds the username and password that every new cluster comes with. They are retired as soon as ' +
        'a cluster runs.',
    ),
    serverURL: z
      .string()
      .min(1)
      .max(1024)
      .meta(
        rules(
          {
            rule: `self.contains('{host}') && self.matches('${HTTP_URL}')`,
            message:
              'serverURL must be an http or https URL with {host} in it, without user information, query or fragment, such as https://{host}:{port}',
          },
          {
            rule: `isURL(self.replace('{host}', 'db.example.com').replace('{port}', '443'))`,
            message:
              'serverURL must be a URL when {host} and {port} are replaced by a host and a port, and hold no other braces, such as https://{host}:{port}',
          },
        ),
      )
      .default('https://{host}:{port}')
      .describe(
        'How the HTTP base URL of a database server is made from its address: {host} and {port} stand for its parts.',
      ),
    caBundle: z
      .base64()
      .max(524_288)
      .optional()
      .describe(
        "Certificates to trust for both APIs in addition to the system's, as base64 of PEM. Each of them must be readable.",
      ),
    pollInterval: durationText('pollInterval', '1s')
      .default('60s')
      .describe('How often the whole space is observed while nothing is in progress, such as 60s, at least 1s.'),
    verifyInterval: durationText('verifyInterval', '1s', true)
      .default('10m')
      .describe(
        'How often each published login is tried, such as 10m, at least 1s, with some jitter. 0s: only after changes.',
      ),
    allowedNamespaces: allowedNamespaces('Namespaces that may place DatabaseClusters in this space.').optional(),
  })
  .describe('Where the space is and how to reach it.');

const status = z
  .object({
    ...commonStatus,
    availableVersions: z
      .array(z.string())
      .optional()
      .meta({ 'x-kubernetes-list-type': 'atomic' })
      .describe('Versions of the database that can be deployed, up to 200.'),
    clusters: z
      .object({
        total: z.int().describe('Clusters in the space.'),
        managed: z.int().describe('Of these, clusters that have a DatabaseCluster, through whichever DatabaseSpace.'),
        own: z.int().optional().describe('Of these, clusters whose DatabaseCluster names this DatabaseSpace.'),
      })
      .optional()
      .describe('How many clusters there are.'),
    unmanagedClusters: z
      .array(
        z.object({
          clusterID: z.string().describe('Id of the cluster.'),
          provider: z.string().optional().describe('Cloud provider.'),
          region: z.string().optional().describe('Region of the provider.'),
          machineType: z.string().optional().describe('Machine type of each server.'),
          state: z.string().optional().describe('Its state, as the cloud reports it.'),
        }),
      )
      .max(50)
      .optional()
      .meta({ 'x-kubernetes-list-type': 'atomic' })
      .describe('Clusters in the space that have no DatabaseCluster, up to 50.'),
    keptSecrets: z
      .array(z.string())
      .optional()
      .meta({ 'x-kubernetes-list-type': 'atomic' })
      .describe('Secrets that are protected from deletion, because deleting a cluster will need them.'),
  })
  .describe('The observed state. Only the operator writes it.');

export type DatabaseSpaceSpec = Immutable<z.output<typeof spec>>;
export type DatabaseSpaceStatus = Immutable<z.output<typeof status>>;

/**
 * The space that the object's clusters are managed in cannot become another one. Those that others manage there do not count: the object
 * is not theirs, and nobody should be advised to delete them.
 */
function staysWhileManaged(field: string): ValidationRule {
  const own = 'oldSelf.status.clusters.own';
  const cannot = `${field} cannot change from '%s' to '%s' while`;
  const values = [`oldSelf.spec.${field}`, `self.spec.${field}`];
  return {
    rule: `self.spec.${field} == oldSelf.spec.${field} || !has(oldSelf.status) || !has(oldSelf.status.clusters) || (has(${own}) ? ${own} : oldSelf.status.clusters.managed) == 0`,
    message: `${field} can change only while no cluster is managed through this DatabaseSpace: create another DatabaseSpace`,
    messageExpression: `has(${own}) ? ${textWith(
      `${cannot} there %s %d %s this DatabaseSpace: create another DatabaseSpace, and new DatabaseClusters that name it`,
      ...values,
      `${own} == 1 ? 'is' : 'are'`,
      own,
      `${own} == 1 ? 'cluster of a DatabaseCluster that names' : 'clusters of DatabaseClusters that name'`,
    )} : ${textWith(
      `${cannot} clusters of the space are managed, and status.clusters.own does not say how many through this DatabaseSpace: wait until the operator has written it, or create another DatabaseSpace`,
      ...values,
    )}`,
    fieldPath: `.spec.${field}`,
    reason: 'FieldValueForbidden',
  };
}

export const databaseSpaceDefinition: ResourceDefinition<DatabaseSpaceSpec, DatabaseSpaceStatus> = {
  kind: 'DatabaseSpace',
  plural: 'databasespaces',
  singular: 'databasespace',
  shortNames: ['dbs'],
  categories: ['mooring'],
  description: 'A DatabaseSpace is one space of a team in the cloud, with the API tokens for it.',
  spec,
  status,
  rules: [staysWhileManaged('teamID'), staysWhileManaged('spaceID')],
  printerColumns: [
    ...READY_COLUMNS,
    { name: 'Team', type: 'string', jsonPath: '.spec.teamID', description: 'The team.' },
    { name: 'Space', type: 'string', jsonPath: '.spec.spaceID', description: 'The space.' },
    { name: 'Clusters', type: 'integer', jsonPath: '.status.clusters.managed', description: 'Clusters managed here.' },
    AGE_COLUMN,
  ],
};
