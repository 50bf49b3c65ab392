import * as z from 'zod';
import { commonStatus, timestamp } from '../shared-schema.ts';

export const status = z
  .object({
    ...commonStatus,
    state: z.string().optional().describe('State of the cluster, as the cloud reports it, such as running.'),
    clusterID: z.string().optional().describe('Id of the cluster in the cloud.'),
    createdAt: z
      .string()
      .optional()
      .describe('When the cluster was created, as the cloud reports it. Another time means another cluster.'),
    observedOnly: z
      .boolean()
      .optional()
      .describe(
        'true: the cluster was recorded with managementPolicy Observe. To manage it, adoptionPolicy must allow that.',
      ),
    place: z
      .object({
        baseURL: z.string().describe('Base URL of the Cluster Management API.'),
        teamID: z.string().describe('The team.'),
        spaceID: z.string().describe('The space of the team.'),
      })
      .optional()
      .describe(
        'Where the cluster is, recorded before it is created or taken over. It is looked for only there, whatever the ' +
          'DatabaseSpace says later.',
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
          status: z.string().optional().describe('Its state, as the cloud reports it, such as running.'),
        }),
      )
      .optional()
      .meta({ 'x-kubernetes-list-type': 'atomic' })
      .describe('The servers of the cluster; none while it is suspended.'),
    endpoint: z.string().optional().describe('HTTP base URL of the database server, such as https://host:port.'),
    operation: z
      .object({
        type: z.string().describe('What the call does, such as Deploy or Clone.'),
        target: z.string().describe('Id of the cluster that the call is about.'),
        startedAt: timestamp().describe('When the call was about to be made.'),
        by: z.string().optional().describe('The process that recorded this.'),
        generation: z.int().optional().describe('The metadata.generation of the spec that the call was made from.'),
      })
      .optional()
      .describe('A call that must not happen twice, recorded before it is made.'),
    former: z
      .object({
        clusterID: z.string().describe('Its id.'),
        createdAt: z.string().describe('When it was created.'),
      })
      .optional()
      .describe(
        'The cluster that vanished and is being replaced by a new one. If it comes back before that, it belongs to this ' +
          'object again.',
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
      .describe(
        'The last value of the annotation mooring.dev/rotate-at that was acted on; its digest if it is longer than 1024 characters.',
      ),
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
            'The metadata.resourceVersion of the Secret with the login that new clusters come with, when it was verified that this login no longer works.',
          ),
        endpoint: z.string().describe('The server on which the login was verified.'),
        verifiedAt: timestamp().optional().describe('When the login was last verified.'),
      })
      .optional()
      .describe('The login that was last verified: it works, and the one that new clusters come with does not.'),
    unverifiedSecretName: z
      .string()
      .optional()
      .describe(
        'Name of another Secret that may hold the login, recorded before the server is given a password from it: the one ' +
          'that the login is moving to, or, until it is deleted, one that the login was in or moving to before.',
      ),
  })
  .describe('The observed state. Only the operator writes it.');
