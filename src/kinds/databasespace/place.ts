import type { DatabaseSpaceSpec } from './schema.ts';

/** A space in the cloud: which cloud, which team, which space. Holds no secret: a base URL may not have a login in it. */
export interface Place {
  readonly baseURL: string;
  readonly teamID: string;
  readonly spaceID: string;
}

/** Returns the place that the spec names. Base URLs that mean the same become equal. */
export function placeOf({ baseURL, teamID, spaceID }: Pick<DatabaseSpaceSpec, keyof Place>): Place {
  const href = URL.canParse(baseURL) ? new URL(baseURL).href : baseURL;
  return { baseURL: href.replace(/\/+$/, ''), teamID, spaceID };
}

export function isSamePlace(one: Place, other: Place): boolean {
  return one.baseURL === other.baseURL && one.teamID === other.teamID && one.spaceID === other.spaceID;
}

/** Returns what people call the place. */
export function placeName({ teamID, spaceID }: Place): string {
  return `space "${spaceID}" of team "${teamID}"`;
}

/** Returns the name with that of the cloud, for when it matters. */
export function placeInFull(place: Place): string {
  return `${placeName(place)} at ${place.baseURL}`;
}
