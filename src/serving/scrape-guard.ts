import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Reviews } from '../kube/reviews.ts';
import type { Page, PageGuard } from './http-server.ts';

/** How long a verdict counts: the API server is not asked again with each scrape. As in the API server's own delegation. */
const GRANTED_MS = 60_000;
const REFUSED_MS = 10_000;
/** Whoever sends ever new tokens must not fill the memory. */
const MAX_VERDICTS = 1_000;

interface Verdict {
  readonly page: Page | undefined;
  readonly untilMs: number;
}

/**
 * Lets only those see a page who may `get` its path, as RBAC says of `nonResourceURLs`: what controller-runtime does for
 * `/metrics`. Tokens are remembered by a digest only.
 */
export function createScrapeGuard(
  reviews: Reviews,
  clock: Clock,
  log: { warn(fields: object, message: string): void },
): PageGuard {
  const verdicts = new Map<string, Verdict>();
  return async (path, authorization) => {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return text(401, 'A bearer token of the Kubernetes API is needed');
    const key = createHash('sha256').update(`${path} ${token}`).digest('base64');
    const known = verdicts.get(key);
    if (known !== undefined && known.untilMs > clock.monotonic()) return known.page;
    let page: Page | undefined;
    try {
      page = await judge(reviews, path, token);
    } catch (error) {
      log.warn({ err: error }, `Cannot ask the API server who may get ${path}: ${messageOf(error)}`);
      return text(503, 'The API server does not say whether this is allowed: try again');
    }
    verdicts.delete(key);
    verdicts.set(key, { page, untilMs: clock.monotonic() + (page === undefined ? GRANTED_MS : REFUSED_MS) });
    const [oldest] = verdicts.keys();
    if (verdicts.size > MAX_VERDICTS && oldest !== undefined) verdicts.delete(oldest);
    return page;
  };
}

async function judge(reviews: Reviews, path: string, token: string): Promise<Page | undefined> {
  const user = await reviews.authenticate(token);
  if (user === undefined) return text(401, 'The API server does not accept this token');
  if (await reviews.mayGet(user, path)) return undefined;
  return text(403, `${user.username} may not get ${path}: grant it in a ClusterRole with nonResourceURLs`);
}

function text(status: number, message: string): Page {
  return { status, contentType: 'text/plain', body: `${message}\n` };
}
