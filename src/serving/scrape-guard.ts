import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { Buckets } from '../base/collections/buckets.ts';
import { Recent } from '../base/collections/recent.ts';
import { messageOf } from '../base/errors.ts';
import type { Reviews } from '../kube/reviews.ts';
import type { Page, PageGuard } from './http-server.ts';

/** How long a verdict counts, as in the API server's own delegation: the API server is not asked again at each scrape. */
const LASTS_MS = { granted: 60_000, refused: 10_000 } as const;
/** Ever new tokens must not fill the memory. A limit for each kind of verdict, so that refusals do not drive out those let in. */
const MAX_VERDICTS = 1_000;
/** Nor may they flood the API server: a limit on reviews of tokens that were not let in before, with BURST of them at once. */
const REVIEWS_PER_SECOND = 10;
const BURST = 20;
/** All unknown tokens are one group. */
const STRANGERS = '';

interface Verdict {
  readonly page: Page | undefined;
  readonly untilMs: number;
}

/**
 * Shows a page only to those who may `get` its path, by RBAC's `nonResourceURLs`, as controller-runtime does for `/metrics`. Tokens are
 * remembered only as digests.
 */
export function createScrapeGuard(
  reviews: Reviews,
  clock: Clock,
  log: { warn(fields: object, message: string): void },
): PageGuard {
  const verdicts = {
    granted: new Recent<string, Verdict>(MAX_VERDICTS),
    refused: new Recent<string, Verdict>(MAX_VERDICTS),
  };
  const reviewed = new Buckets({ clock, intervalMs: 1000 / REVIEWS_PER_SECOND, burst: BURST });
  return async (path, authorization) => {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return text(401, 'A bearer token of the Kubernetes API is needed');
    const key = createHash('sha256').update(`${path} ${token}`).digest('base64');
    const granted = verdicts.granted.peek(key);
    const known = granted ?? verdicts.refused.peek(key);
    if (known !== undefined && known.untilMs > clock.monotonic()) return known.page;
    if (granted === undefined) {
      if (reviewed.waitMs(STRANGERS) > 0) return text(429, 'Too many unknown tokens: try again');
      reviewed.take(STRANGERS);
    }
    let page: Page | undefined;
    try {
      page = await judge(reviews, path, token);
    } catch (error) {
      log.warn({ err: error }, `Cannot ask the API server who may get ${path}: ${messageOf(error)}`);
      return text(503, 'The API server does not say whether this is allowed: try again');
    }
    const [of, other] = page === undefined ? (['granted', 'refused'] as const) : (['refused', 'granted'] as const);
    verdicts[other].delete(key);
    verdicts[of].set(key, { page, untilMs: clock.monotonic() + LASTS_MS[of] });
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
