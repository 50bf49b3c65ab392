import { isSamePlace, placeOf } from '../kinds/databasespace/place.ts';
import { type Item, isOutOfDate, itemOf, nameOf, readyOf } from '../plugin/item.ts';
import { nodeName } from '../plugin/node-name.ts';
import type { Clouds } from './clouds.ts';
import { clustersOf, isLeaving, type PlannedObject, spacesOf } from './objects.ts';
import type { Outcome } from './outcome.ts';

type ByName = ReadonlyMap<string, Outcome>;

/** What a plan assumes that nobody can know before it is carried out. */
export function assumptionsOf(
  objects: readonly PlannedObject[],
  outcomes: readonly Outcome[],
  clouds: Clouds,
): readonly string[] {
  const byName = new Map(outcomes.map((outcome) => [outcome.name, outcome]));
  return [
    ...overBy(objects, byName),
    ...atOtherURLs(objects),
    ...stillConnected(objects, byName),
    ...onServers(objects, clouds),
  ];
}

/** Present problems, such as a token that the cloud refuses, that are gone in the plan although no step solves them. */
function overBy(objects: readonly PlannedObject[], byName: ByName): readonly string[] {
  const items = objects.flatMap(({ definition, live }) => (live === undefined ? [] : [itemOf(definition, live)]));
  const parents = new Map(items.map((item) => [nameOf(item), item.parent]));
  const isLeft = (name: string | undefined): boolean =>
    name === undefined || (byName.get(name)?.change === 'none' && isLeft(parents.get(name)));
  const isMended = (item: Item) => {
    const outcome = byName.get(nameOf(item));
    const wasWrong = readyOf(item)?.status === 'False' && !isOutOfDate(item);
    const isUntouched = outcome?.steps.length === 0 || needsValue(item);
    return wasWrong && outcome?.end?.ready === 'True' && isUntouched && isLeft(nameOf(item));
  };
  return items.filter(isMended).map((item) => {
    const { reason, message } = readyOf(item) ?? {};
    return `${nameOf(item)} is not Ready now, and nothing in this plan changes that: ${reason}: ${message}. A plan tries no login: it assumes that this is fixed first`;
  });
}

/** Its steps come after what was refused, so they do not solve that: they would need another value in a Secret, which no plan knows. */
function needsValue(item: Item): boolean {
  return NEEDS_VALUE.has(readyOf(item)?.reason ?? '');
}

const NEEDS_VALUE: ReadonlySet<string> = new Set(['DefaultLoginRefused', 'AccessDenied', 'InvalidPassword']);

function atOtherURLs(objects: readonly PlannedObject[]): readonly string[] {
  return spacesOf(objects).flatMap(({ object, spec, next }) =>
    object.wanted === undefined || next.serverURL === spec.serverURL
      ? []
      : [
          `serverURL of DatabaseSpace ${object.key} changes from ${spec.serverURL} to ${next.serverURL}: this plan asks no server, and assumes that each answers there`,
        ],
  );
}

/** Spaces that the copy could not be connected to, as an operator may have been before. */
function stillConnected(objects: readonly PlannedObject[], byName: ByName): readonly string[] {
  return spacesOf(objects).flatMap(({ object, spec, next, status }) => {
    const { end } = byName.get(nodeName(object.definition.kind, object.key)) ?? {};
    const wasConnected = status.clusters !== undefined && isSamePlace(placeOf(spec), placeOf(next));
    if (!wasConnected || isLeaving(object) || end === undefined || end.ready === 'True') return [];
    return [
      `DatabaseSpace ${object.key} ends with ${end.reason}, so nothing is done in it here. An operator that it worked for goes on with the earlier connection until it restarts: it may also do what this plan only shows as waiting`,
    ];
  });
}

function onServers(objects: readonly PlannedObject[], clouds: Clouds): readonly string[] {
  return clustersOf(objects).flatMap(({ object }) => {
    const { clusterID, guesses } = clouds.server(object.key) ?? { guesses: [] };
    if (object.wanted === undefined || guesses.length === 0) return [];
    const what = guesses.join(', and that ');
    return [
      `It is not known what is on the server of cluster "${clusterID}", which DatabaseCluster ${object.key} takes over if no object in another namespace has it, until that server is asked: this plan assumes that ${what}`,
    ];
  });
}
