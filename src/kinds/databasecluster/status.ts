import * as z from 'zod';
import { commonStatus, timestamp } from '../shared-schema.ts';

export const status = z
  .object({
    ...commonStatus,
    state: z.string().optional().describe("The state of the cluster in the cloud's word, such as running."),
    clusterID: z.string().optional().describe('Id of the cluster in the cloud.'),
    createdAt: z
      .string()
      .optional()
      .describe('When the cluster was created, as the cloud says. With another value it is another cluster.'),
    observedOnly: z
      .boolean()
      .optional()
      .describe(
        'True: the cluster was recorded with managementPolicy Observe. It takes leave by adoptionPolicy to manage it.',
      ),
    place: z
      .object({
        baseURL: z.string().describe('Base URL of the Cluster Management API.'),
        teamID: z.string().describe('The team.'),
        spaceID: z.string().describe('The space of the team.'),
      })
      .optional()
      .describe(
        'Where the cluster is, written down before it is created or taken over. It is looked for nowhere else, whatever ' +
          'the DatabaseSpace says later.',
      ),
    version: z.string().optional().describe('Version of the database that the cluster runs.'),
    observed: z
      .object({
        machineType: z.string().optional().describe('Machine type of each server.'),
        storageSizeGB: z.int().optional().describe('Storage of each server in GB.'),
        serverCount: z.int().optional().describe('Number of servers.'),
        provider: z.string().optional().describe('Cloud provider.'),
        region: z.string().optional().describe('Region of the provider.'),
      })
      .optional()
      .describe('What the cloud reports about the cluster.'),
    servers: z
      .array(
        z.object({
          address: z.string().describe('Host and port.'),
          status: z.string().optional().describe("Its state in the cloud's word, such as running."),
        }),
      )
      .optional()
      .meta({ 'x-kubernetes-list-type': 'atomic' })
      .describe('The servers of the cluster; none while it is suspended.'),
    endpoint: z.string().optional().describe('HTTP base URL of the database server, such as https://host:port.'),
    operation: z
      .object({
        type: z.string().describe('What is done, such as Deploy or Clone.'),
        target: z.string().describe('Id of the cluster that it is done to.'),
        startedAt: timestamp().describe('When it was about to be asked for.'),
        by: z.string().optional().describe('The process that wrote this down.'),
      })
      .optional()
      .describe('A call that must not happen twice, written down before it is made.'),
    former: z
      .object({
        clusterID: z.string().describe('Its id.'),
        createdAt: z.string().describe('When it was created.'),
      })
      .optional()
      .describe(
        'The cluster that vanished, and in whose place another one is being created. Should it come back before that, it is this ' +
          "object's again.",
      ),
    drift: z
      .array(
        z.object({
          field: z.string().describe('Field of the spec.'),
          desired: z.string().describe('Its value in the spec.'),
          observed: z.string().describe('Its value in the cloud.'),
        }),
      )
      .max(32)
      .optional()
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['field'] })
      .describe('Where the cluster differs from the spec.'),
    backup: z
      .object({
        frequency: z.string().describe('How often a backup is made.'),
        retentionDays: z.int().describe('How many days a backup is kept.'),
      })
      .optional()
      .describe('The backup settings that the cloud accepted last. It does not report them.'),
    lastRotation: timestamp()
      .optional()
      .describe('When the password in the admin Secret was last replaced by a new one.'),
    lastHandledRotateAt: z
      .string()
      .optional()
      .describe('The last value of the annotation mooring.dev/rotate-at that was acted on.'),
    credentials: z
      .object({
        secretName: z.string().describe('Name of the Secret that holds the login.'),
        secretResourceVersion: z
          .string()
          .describe("The Secret's metadata.resourceVersion when the login was verified."),
        factoryVersion: z
          .string()
          .optional()
          .describe(
            'The metadata.resourceVersion of the Secret with the login that new clusters come with, whose retirement was verified.',
          ),
        endpoint: z.string().describe('The server that the login was verified at.'),
        verifiedAt: timestamp().optional().describe('When the login was verified last.'),
      })
      .optional()
      .describe('The login that was last verified: it works, and the one that new clusters come with does not.'),
    unverifiedSecretName: z
      .string()
      .optional()
      .describe(
        'Name of another Secret that the login may be in, written down before the server is given a password of it: the one ' +
          'that it is to come to, or the one that it was in before or was on its way to, until that is deleted.',
      ),
  })
  .describe('What was found. Written by the operator only.');
