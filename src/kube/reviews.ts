import { HttpError, type HttpTransport, readText } from '../base/transport.ts';
import type { KubeConnection } from './connection/connection.ts';

/** The user that a token belongs to: authentication.k8s.io/v1 UserInfo. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Asks the API server who somebody is and what they may do, as its own delegated authentication and authorization do. */
export interface Reviews {
  /** TokenReview; undefined: the token is not valid. Throws HttpError if there is no verdict. */
  authenticate(token: string): Promise<UserInfo | undefined>;
  /** SubjectAccessReview of a path that is no resource. Throws HttpError if there is no verdict. */
  mayGet(user: UserInfo, path: string): Promise<boolean>;
}

const TIMEOUTS = { headersMs: 10_000, bodyMs: 10_000, totalMs: 10_000 };
const MAX_ANSWER_BYTES = 1_000_000;

export function createReviews(
  connection: Pick<KubeConnection, 'server' | 'authorize'>,
  transport: HttpTransport,
): Reviews {
  const server = connection.server.replace(/\/$/, '');

  async function post(path: string, body: object, renew = false): Promise<Record<string, unknown>> {
    const response = await transport({
      method: 'POST',
      url: `${server}${path}`,
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        ...(await connection.authorize(renew)),
      },
      body: JSON.stringify(body),
      timeouts: TIMEOUTS,
    });
    const text = await readText(response, MAX_ANSWER_BYTES);
    if (response.status === 401 && !renew) return post(path, body, true);
    if (response.status < 200 || response.status > 299) {
      throw new HttpError('lost', `POST ${path}: HTTP ${response.status}`);
    }
    return statusOf(text, path);
  }

  return {
    async authenticate(token) {
      const status = await post('/apis/authentication.k8s.io/v1/tokenreviews', {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        spec: { token },
      });
      if (status['authenticated'] !== true) return undefined;
      // The cast is the parse border: what the API server says about a user goes back to it unchanged.
      const user = status['user'] as Partial<UserInfo> | undefined;
      return typeof user?.username === 'string' ? { ...user, username: user.username } : undefined;
    },
    async mayGet({ username, uid, groups, extra }, path) {
      const status = await post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: { user: username, uid, groups, extra, nonResourceAttributes: { path, verb: 'get' } },
      });
      return status['allowed'] === true && status['denied'] !== true;
    },
  };
}

function statusOf(text: string, path: string): Record<string, unknown> {
  try {
    const status = (JSON.parse(text) as { readonly status?: unknown } | null)?.status;
    if (typeof status === 'object' && status !== null) return status as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new HttpError('lost', `POST ${path}: The answer has no status`);
}
