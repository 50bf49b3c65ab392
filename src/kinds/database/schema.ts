import * as z from 'zod';
import type { Immutable } from '../../base/immutable.ts';
import type { ResourceDefinition } from '../../kube/definition.ts';
import { CLUSTER_COLUMN, clusterReference, nameNeeded, nameStays, serverName } from '../server-schema.ts';
import {
  AGE_COLUMN,
  commonStatus,
  deletionColumn,
  immutableScalar,
  objectName,
  READY_COLUMNS,
  rules,
  secretKey,
  timestamp,
} from '../shared-schema.ts';

const OTHER_DATABASE = 'a Database keeps the name it was created with, so create another Database';

const source = z
  .object({
    configMapKeyRef: z
      .object({
        name: objectName().describe('Name of the ConfigMap, in the same namespace.'),
        key: secretKey().describe('Key that holds the text.'),
      })
      .optional()
      .describe('The text under a key of a ConfigMap. Changes are applied at once.'),
    inline: z.string().min(1).max(262_144).optional().describe('The text itself.'),
  })
  .meta(
    rules({
      rule: 'has(self.configMapKeyRef) != has(self.inline)',
      message: 'a schema source needs exactly one of configMapKeyRef and inline: set one, remove the other',
    }),
  );

const spec = z
  .object({
    clusterRef: clusterReference(),
    name: serverName('orders', immutableScalar('name', OTHER_DATABASE))
      .optional()
      .describe('Name of the database on the server. Default: the name of this object. Immutable.'),
    schema: z
      .array(source)
      .max(64)
      .optional()
      .meta({ 'x-kubernetes-list-type': 'atomic' })
      .describe(
        'The schema, as schema queries, applied in order in one schema transaction: all or nothing. New and changed ' +
          "sources are run, or all sources if the server's schema was changed elsewhere. Absent: the schema is not " +
          'looked at.',
      ),
    adoptionPolicy: z
      .enum(['Never', 'IfExists'])
      .default('Never')
      .describe(
        "What happens if the server already has a database of this name. Never: it counts as somebody else's and is left alone. " +
          'IfExists: it is taken over, with its data.',
      ),
    deletionPolicy: z
      .enum(['Retain', 'Delete'])
      .default('Retain')
      .describe(
        'What deleting this object does to the database. Retain: nothing. Delete: it is deleted with its data.',
      ),
  })
  .describe('What the database should be.');

const status = z
  .object({
    ...commonStatus,
    name: z
      .string()
      .optional()
      .describe('Name of the database on the server; absent until the database certainly belongs to this object.'),
    cluster: z.string().optional().describe('When the cluster that the database is on was created.'),
    operation: z
      .object({
        type: z.string().describe('What the call does, such as CreateDatabase.'),
        target: z.string().describe('Name of the database that the call is about.'),
        startedAt: timestamp().describe('When the call was about to be made.'),
        by: z.string().optional().describe('The process that recorded this.'),
      })
      .optional()
      .describe(
        'A call whose effect must be recognized afterwards as that of the operator, recorded before it is made.',
      ),
    schemaHash: z
      .string()
      .optional()
      .describe('Digest of the schema that the server had after the sources were applied.'),
    foreignSchemaHash: z
      .string()
      .optional()
      .describe(
        'Digest of the schema that the server had after all sources were run again because of a change elsewhere, if it ' +
          'still differed then: it holds what others defined.',
      ),
    appliedSchema: z
      .array(
        z.object({
          source: z.string().describe('Which source: configmap/<name>/<key>, or inline/<position from 0>.'),
          hash: z.string().describe('Digest of its text.'),
          appliedAt: timestamp().describe('When it was committed.'),
          resourceVersion: z
            .string()
            .optional()
            .describe("The ConfigMap's metadata.resourceVersion when its text was read."),
        }),
      )
      .max(64)
      .optional()
      .meta({ 'x-kubernetes-list-type': 'atomic' })
      .describe('The sources that are in the schema, in order.'),
    checkedSchema: z
      .object({
        hash: z.string().describe('Digest of what was tried.'),
        outcome: z.string().describe('Succeeded or Failed.'),
        message: z.string().describe('What the dry run showed.'),
      })
      .optional()
      .describe('The last dry run of schema sources: they were run in a transaction that was closed without a commit.'),
  })
  .describe('The observed state. Only the operator writes it.');

export type DatabaseSpec = Immutable<z.output<typeof spec>>;
export type DatabaseStatus = Immutable<z.output<typeof status>>;

export const databaseDefinition: ResourceDefinition<DatabaseSpec, DatabaseStatus> = {
  kind: 'Database',
  plural: 'databases',
  singular: 'database',
  shortNames: ['dbd'],
  categories: ['mooring'],
  description: "A Database is one database on a cluster's server, with its schema.",
  spec,
  status,
  rules: [nameNeeded('name'), ...nameStays('name', 'Database')],
  printerColumns: [
    ...READY_COLUMNS,
    { name: 'Database', type: 'string', jsonPath: '.status.name', description: 'Name of the database on the server.' },
    CLUSTER_COLUMN,
    {
      name: 'Schema',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Synced")].reason',
      description: 'Whether the schema is as the sources say.',
      priority: 1,
    },
    deletionColumn('database'),
    AGE_COLUMN,
  ],
};
