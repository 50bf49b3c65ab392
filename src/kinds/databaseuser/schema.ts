import * as z from 'zod';
import type { Immutable } from '../../base/immutable.ts';
import { parseSpec, type ResourceDefinition, type ValidationRule } from '../../kube/definition.ts';
import { ANNOTATION_KEY, isAnnotationKey } from '../../kube/names.ts';
import { keysOf, labels } from '../label-schema.ts';
import { CLUSTER_COLUMN, clusterReference, nameNeeded, nameStays, serverName } from '../server-schema.ts';
import {
  AGE_COLUMN,
  commonStatus,
  deletionColumn,
  durationText,
  IS_KNOWN,
  immutableScalar,
  objectName,
  READY_COLUMNS,
  ruled,
  rules,
  secretKey,
  timestamp,
} from '../shared-schema.ts';
import { TEMPLATE_RULES } from './secret/template.ts';

const OTHER_USER = 'a DatabaseUser keeps the name it was created with, so create another DatabaseUser';

/** Labels and annotations that the operator writes itself. */
const NOT_OURS = ['labels', 'annotations'].map((field) => ({
  rule: `!has(self.${field}) || self.${field}.all(key, !key.startsWith('mooring.dev/') && key != 'app.kubernetes.io/managed-by')`,
  message: `${field} must not have app.kubernetes.io/managed-by or a key that begins with mooring.dev/: the operator sets these itself`,
  fieldPath: `.${field}`,
}));

const secretName = objectName().optional().describe('Name of the Secret. Default: <name of this object>-connection.');

const connectionSecret = z
  .object({
    name: secretName,
    labels: labels('labels').optional().describe('Labels that the Secret gets in addition to those of the operator.'),
    annotations: ruled(
      z.record(z.string(), z.string().max(4096)),
      keysOf('annotations', ANNOTATION_KEY, isAnnotationKey),
    )
      .optional()
      .meta({ maxProperties: 32 })
      .describe('Annotations that the Secret gets in addition to those of the operator.'),
    template: ruled(z.record(z.string(), z.string().max(4096)), ...TEMPLATE_RULES)
      .optional()
      .meta({ maxProperties: 32 })
      .describe(
        'Further keys of the Secret: texts in which {{ username }}, {{ password }}, {{ host }}, {{ port }}, {{ uri }}, ' +
          '{{ addresses }}, {{ type }} and {{ provider }} are filled in, also as {{ password | urlencode }}.',
      ),
  })
  .meta(rules(...NOT_OURS));

const spec = z
  .object({
    clusterRef: clusterReference(),
    username: serverName('app', immutableScalar('username', OTHER_USER))
      .optional()
      .describe('Name of the user on the server. Default: the name of this object. Immutable.'),
    passwordSecretRef: z
      .object({
        name: objectName().describe('Name of the Secret, in the same namespace.'),
        key: secretKey().optional().describe('Key that holds the password. Default: password.'),
      })
      .optional()
      .describe('A password of your own, at most 72 bytes. Changes are applied at once. Absent: one is generated.'),
    rotateEvery: durationText('rotateEvery', '10m')
      .optional()
      .describe(
        'How often a generated password is replaced by a new one, such as 720h, at least 10m. Absent: never automatically.',
      ),
    connectionSecret: connectionSecret
      .optional()
      .describe('The Secret that applications use. The operator writes it, with type servicebinding.io/database.'),
    adoptionPolicy: z
      .enum(['Never', 'IfExists'])
      .default('Never')
      .describe(
        "What happens if the server already has a user of this name. Never: it counts as somebody else's and is left alone. " +
          'IfExists: it is taken over, with a new password.',
      ),
    deletionPolicy: z
      .enum(['Delete', 'Retain'])
      .default('Delete')
      .describe(
        'What deleting this object does to the user. Delete: it is deleted. Retain: it stays, with its password.',
      ),
  })
  .meta(
    rules({
      rule: '!has(self.passwordSecretRef) || !has(self.rotateEvery)',
      message: 'rotateEvery is for generated passwords: remove it, or remove passwordSecretRef',
      fieldPath: '.rotateEvery',
    }),
  )
  .describe('What the user should be.');

/** For an object older than the rules of what Kubernetes takes: it has a user all the same, which is its own and goes with it. */
const storedSpec = spec.extend({
  connectionSecret: z
    .object({
      name: secretName,
      labels: z.record(z.string(), z.string()).optional(),
      annotations: z.record(z.string(), z.string()).optional(),
      template: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
});

const ofSecret = z.object({ connectionSecret });

/** Returns why no Secret can be as the spec says; undefined: one can. */
export function refusalOfSecret({ connectionSecret: wanted }: DatabaseUserSpec): string | undefined {
  if (wanted === undefined) return undefined;
  const parsed = parseSpec({ spec: ofSecret }, { connectionSecret: wanted });
  return parsed.ok ? undefined : parsed.message;
}

const status = z
  .object({
    ...commonStatus,
    username: z
      .string()
      .optional()
      .describe('Name of the user on the server; absent until the user certainly belongs to this object.'),
    lastRotation: timestamp().optional().describe('When the password was last replaced by a new one.'),
    lastHandledRotateAt: z
      .string()
      .optional()
      .describe(
        'The last value of the annotation mooring.dev/rotate-at that was acted on; its digest if it is longer than 1024 characters.',
      ),
    binding: z
      .object({ name: z.string().describe('Name of the Secret.') })
      .optional()
      .describe('The connection Secret, once it works: the Service Binding specification finds it here.'),
    connection: z
      .object({
        cluster: z.string().describe('When the cluster that the user is on was created.'),
        endpoint: z.string().describe('The server on which the password was verified.'),
        addresses: z.string().describe('All servers, as the connection Secret names them.'),
        secretName: z.string().describe('Name of the connection Secret.'),
        secretResourceVersion: z
          .string()
          .describe("The connection Secret's metadata.resourceVersion when its password was verified."),
        sourceResourceVersion: z
          .string()
          .optional()
          .describe('The metadata.resourceVersion of the Secret in passwordSecretRef at that time.'),
      })
      .optional()
      .describe('What was last verified: the password in this Secret works on this server.'),
  })
  .describe('The observed state. Only the operator writes it.');

export const OWN_PASSWORD_FROM_OURS =
  'passwordSecretRef names the Secret that the operator writes (connectionSecret.name, by default <name>-connection): name another Secret in one of the two';

const namesOurs = (object: string) =>
  `(has(${object}.spec.passwordSecretRef) && ${object}.spec.passwordSecretRef.name == (has(${object}.spec.connectionSecret) && has(${object}.spec.connectionSecret.name) ? ${object}.spec.connectionSecret.name : ${object}.metadata.name + '-connection'))`;

/** The operator would wait for what it writes itself, or set another password each time. */
const ownPasswordRules: readonly ValidationRule[] = [
  `!${namesOurs('self')} || ${IS_KNOWN}`,
  `!${namesOurs('self')} || ${namesOurs('oldSelf')}`,
].map((rule) => ({ rule, message: OWN_PASSWORD_FROM_OURS, fieldPath: '.spec.passwordSecretRef.name' }));

export type DatabaseUserSpec = Immutable<z.output<typeof spec>>;
export type DatabaseUserStatus = Immutable<z.output<typeof status>>;

export const databaseUserDefinition: ResourceDefinition<DatabaseUserSpec, DatabaseUserStatus> = {
  kind: 'DatabaseUser',
  plural: 'databaseusers',
  singular: 'databaseuser',
  shortNames: ['dbu'],
  categories: ['mooring'],
  description: "A DatabaseUser is one user of a cluster's database server, with a Secret for applications.",
  spec,
  storedSpec,
  status,
  rules: [nameNeeded('username'), ...nameStays('username', 'DatabaseUser'), ...ownPasswordRules],
  printerColumns: [
    ...READY_COLUMNS,
    { name: 'Username', type: 'string', jsonPath: '.status.username', description: 'Name of the user on the server.' },
    { name: 'Secret', type: 'string', jsonPath: '.status.binding.name', description: 'The connection Secret.' },
    CLUSTER_COLUMN,
    deletionColumn('user'),
    AGE_COLUMN,
  ],
};
