import { GROUP, VERSION } from '../../base/group.ts';
import type { Kind } from '../../runtime/kind.ts';
import { decideSpace } from './decide.ts';
import { observeSpace, type SpaceObservation, type SpaceWorld, secretNames } from './observe.ts';
import { type DatabaseSpaceSpec, type DatabaseSpaceStatus, databaseSpaceDefinition } from './schema.ts';

export const DATABASE_SPACES = {
  group: GROUP,
  version: VERSION,
  plural: 'databasespaces',
  kind: 'DatabaseSpace',
} as const;

export function databaseSpaceKind(
  world: SpaceWorld,
): Kind<DatabaseSpaceSpec, DatabaseSpaceStatus, SpaceObservation, never> {
  return {
    definition: databaseSpaceDefinition,
    resource: DATABASE_SPACES,
    finalizer: `${GROUP}/space`,
    references: ({ metadata, spec }) => [
      ...secretNames(spec).map((name) => `secrets/${metadata.namespace}/${name}`),
      `spaces/${metadata.namespace}/${metadata.name}`,
    ],
    // A space only watches; nothing outside exists because of it.
    holds: () => false,
    observe: (subject, signal) => observeSpace(world, subject, signal),
    decide: (subject, observation) => decideSpace(subject, observation),
    act: async (_subject, step) => step satisfies never,
    describe: (step) => step satisfies never,
    forget: (key) => {
      world.connections.disconnect(key);
      world.connectedWith.delete(key);
    },
  };
}
