import type { Clouds } from './clouds.ts';
import { clustersOf, type PlannedObject } from './objects.ts';

/** What a plan takes for granted that nobody can know before it is done. */
export function assumptionsOf(objects: readonly PlannedObject[], clouds: Clouds): readonly string[] {
  return clustersOf(objects).flatMap(({ object }) => {
    const { clusterID, guesses } = clouds.server(object.key) ?? { guesses: [] };
    if (object.wanted === undefined || guesses.length === 0) return [];
    const what = guesses.join(', and that ');
    return [
      `What is on the server of cluster "${clusterID}", which DatabaseCluster ${object.key} takes over, is not known before that server is asked: this plan takes it that ${what}`,
    ];
  });
}
