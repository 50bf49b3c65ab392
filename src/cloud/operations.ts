import { quoted } from '../base/printable.ts';
import type { Operation } from '../http/api-call.ts';
import { ApiError, type ApiErrorKind } from '../http/api-error.ts';
import type { AccessLevel } from './token.ts';

/** An operation of the document, with the access level it needs ("Endpoints"). */
export interface CloudOperation extends Operation {
  readonly level: AccessLevel;
}

/** The operations on one space. */
export function cloudOperations(teamID: string, spaceID: string) {
  const clusters = ['api', 'v1', 'team', teamID, 'spaces', spaceID, 'clusters'];
  const one = (id: string) => [...clusters, id];
  return {
    deploy: (id: string): CloudOperation => ({
      name: 'deploy',
      follows: true,
      phrase: `deploy cluster ${quoted(id)}`,
      method: 'POST',
      path: [...clusters, 'deploy'],
      level: 'write',
      idempotent: false,
      words: { conflict: 'the id is already in use' },
    }),
    get: (id: string): CloudOperation => ({
      name: 'get',
      phrase: `get cluster ${quoted(id)}`,
      method: 'GET',
      path: one(id),
      level: 'read',
      idempotent: true,
    }),
    list: (): CloudOperation => ({
      name: 'list',
      phrase: `list the clusters of space ${quoted(spaceID)}`,
      method: 'GET',
      path: clusters,
      level: 'read',
      idempotent: true,
      words: { notFound: 'the team or the space does not exist' },
      routine: true,
    }),
    update: (id: string, renames: boolean): CloudOperation => ({
      name: 'update',
      follows: true,
      phrase: `update cluster ${quoted(id)}`,
      method: 'PATCH',
      path: one(id),
      level: 'write',
      idempotent: !renames,
    }),
    suspend: (id: string): CloudOperation => ({
      name: 'suspend',
      follows: true,
      phrase: `suspend cluster ${quoted(id)}`,
      method: 'POST',
      path: [...one(id), 'suspend'],
      level: 'write',
      idempotent: true,
    }),
    resume: (id: string): CloudOperation => ({
      name: 'resume',
      follows: true,
      phrase: `resume cluster ${quoted(id)}`,
      method: 'POST',
      path: [...one(id), 'resume'],
      level: 'write',
      idempotent: true,
    }),
    clone: (id: string, newID: string): CloudOperation => ({
      name: 'clone',
      follows: true,
      phrase: `clone cluster ${quoted(id)} as ${quoted(newID)}`,
      method: 'POST',
      path: [...one(id), 'clone'],
      level: 'write',
      idempotent: false,
      words: { conflict: 'the id is already in use' },
    }),
    destroy: (id: string): CloudOperation => ({
      name: 'destroy',
      follows: true,
      phrase: `destroy cluster ${quoted(id)}`,
      method: 'DELETE',
      path: one(id),
      level: 'admin',
      // A second call would hit any other cluster that has taken the id.
      idempotent: false,
    }),
    versions: (): CloudOperation => ({
      name: 'versions',
      phrase: 'list the database versions',
      method: 'GET',
      path: ['api', 'v1', 'cluster-versions'],
      level: 'read',
      idempotent: true,
      routine: true,
    }),
  };
}

/** A failure that is found here, not by the exchange itself. `answer`: what the cloud said, if anything. */
export function errorOf(
  { name, phrase, idempotent }: CloudOperation,
  kind: ApiErrorKind,
  what: string,
  answer: Partial<Pick<ApiError, 'status' | 'code' | 'serverMessage'>> = {},
): ApiError {
  const { status, code, serverMessage } = answer;
  return new ApiError({ api: 'cloud', operation: name, phrase, idempotent, kind, what, status, code, serverMessage });
}
