import { GROUP } from '../../base/group.ts';
import type { Kind } from '../../runtime/kind.ts';
import { decideSpace } from './decide.ts';
import { type SpaceObservation, type SpaceStep, secretFinalizer, secretNames } from './observation.ts';
import { observeSpace } from './observe.ts';
import { DATABASE_SPACES } from './resource.ts';
import { type DatabaseSpaceSpec, type DatabaseSpaceStatus, databaseSpaceDefinition } from './schema.ts';
import type { SpaceWorld } from './world.ts';

export function databaseSpaceKind(
  world: SpaceWorld,
): Kind<DatabaseSpaceSpec, DatabaseSpaceStatus, SpaceObservation, SpaceStep> {
  return {
    definition: databaseSpaceDefinition,
    resource: DATABASE_SPACES,
    finalizer: `${GROUP}/space`,
    // Clusters that run well may be in a space that is stalled: without it nothing is observed, and no login verified.
    restless: () => true,
    references: ({ metadata, spec, status }) => [
      ...new Set(
        [...secretNames(spec), ...(status.keptSecrets ?? [])].map((name) => `secrets/${metadata.namespace}/${name}`),
      ),
      `spaces/${metadata.namespace}/${metadata.name}`,
    ],
    // Each waits for a cloud that was named by somebody with rights in its namespace, and that may never answer.
    group: ({ metadata }) => metadata.namespace ?? '',
    // The finalizer is set only while something needs the space.
    holds: () => true,
    observe: (subject, signal) => observeSpace(world, subject, signal),
    decide: decideSpace,
    async act(subject, step) {
      const kept = step.do === 'KeepSecret';
      await world.secrets.keep(subject.metadata.namespace ?? '', step.name, secretFinalizer(subject), kept);
      return undefined;
    },
    describe: ({ do: what, name }) =>
      what === 'KeepSecret' ? `keep Secret "${name}" while deleting a cluster needs it` : `let go of Secret "${name}"`,
    async abandon({ metadata, status }) {
      const { namespace = '' } = metadata;
      const finalizer = secretFinalizer({ metadata });
      for (const name of await world.secrets.keptBy(namespace, finalizer, status.keptSecrets ?? []))
        await world.secrets.keep(namespace, name, finalizer, false);
    },
    forget: (key, why) => {
      // `connected` compares what it was connected with; sessions may be the last proof of a password that was lost.
      if (why === 'wentBack') return;
      world.connections.disconnect(key);
      world.connectedWith.delete(key);
      world.going.forget(key);
      world.versions.delete(key);
      world.listedFor.delete(key);
    },
  };
}
