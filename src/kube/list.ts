import type { AnyObject, KubeApi, ListOptions, Resource } from './api.ts';

const PAGE_SIZE = 500;

/** All objects that a list of the collection gives, in pages, for who needs them once. Throws KubeError and HttpError, as `list`. */
export async function listAllPages(
  api: Pick<KubeApi, 'list'>,
  resource: Resource,
  options: Pick<ListOptions, 'namespace' | 'name'>,
  signal: AbortSignal,
): Promise<readonly AnyObject[]> {
  const found: AnyObject[] = [];
  let continueToken: string | undefined;
  do {
    const page = await api.list(resource, { ...options, limit: PAGE_SIZE, continueToken }, signal);
    found.push(...page.items);
    continueToken = page.continueToken;
  } while (continueToken !== undefined);
  return found;
}
