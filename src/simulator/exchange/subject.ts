import type { Incoming } from './message.ts';
import { isObject } from './shape.ts';

export type Api = 'cloud' | 'server';

/** What a request is about, for matching faults and for the list of requests. Never a secret. */
export interface Subject {
  readonly api: Api;
  /** Empty if no route matches. */
  readonly operation: string;
  readonly method: string;
  readonly teamID: string | undefined;
  readonly spaceID: string | undefined;
  /** The cluster in the path, or the one whose server is asked. */
  readonly clusterID: string | undefined;
  /** The cluster that a deploy or clone would make. */
  readonly newClusterID: string | undefined;
  readonly databaseName: string | undefined;
  readonly username: string | undefined;
}

/** Fields in the bodies of these operations that say what they are about. */
const BODY_FIELDS: Readonly<Record<string, Readonly<Partial<Record<keyof Subject, string>>>>> = {
  deploy: { newClusterID: 'id' },
  clone: { newClusterID: 'id' },
  signIn: { username: 'username' },
  openTransaction: { databaseName: 'databaseName' },
  query: { databaseName: 'databaseName' },
};

export function subjectOf(
  api: Api,
  operation: string,
  request: Incoming,
  params: Readonly<Record<string, string>>,
  place: { readonly teamID?: string; readonly spaceID?: string; readonly id?: string },
): Subject {
  return {
    api,
    operation,
    method: request.method,
    teamID: params['teamID'] ?? place.teamID,
    spaceID: params['spaceID'] ?? place.spaceID,
    clusterID: params['clusterID'] ?? place.id,
    newClusterID: undefined,
    databaseName: params['databaseName'],
    username: params['username'],
    ...fromBody(operation, request.body),
  };
}

function fromBody(operation: string, body: string): Partial<Subject> {
  const fields = BODY_FIELDS[operation];
  if (fields === undefined || body === '') return {};
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return {};
  }
  if (!isObject(parsed)) return {};
  const values = parsed;
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, name]) => {
      const value = values[name];
      return typeof value === 'string' ? [[key, value]] : [];
    }),
  );
}
