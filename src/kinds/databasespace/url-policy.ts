/** Where the operator may send requests to, whatever a manifest says. */
export interface UrlPolicy {
  /** http to hosts other than loopback. */
  readonly allowHTTP: boolean;
  /** Base URLs of the cloud that are allowed, as prefixes by whole path segments; undefined: all. */
  readonly allowedBaseURLs: readonly string[] | undefined;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Why the URL is not allowed, as a text that follows the field's name; undefined if it is. */
export function refusalOfURL(text: string, policy: UrlPolicy): string | undefined {
  if (!URL.canParse(text)) return `"${text}" is not a URL: Write one such as https://cloud.example.com`;
  const url = new URL(text);
  const mayBeHTTP = url.protocol === 'http:' && (LOOPBACK.test(url.hostname) || policy.allowHTTP);
  if (url.protocol !== 'https:' && !mayBeHTTP) {
    return `"${text}" is not https: Use https, or start the operator with --allow-http`;
  }
  const allowed = policy.allowedBaseURLs;
  if (allowed === undefined || allowed.some((base) => isWithin(url, new URL(base)))) return undefined;
  return `"${text}" is not among the operator's --allowed-base-urls (${allowed.join(', ')}): Use one of these, or have it added`;
}

function isWithin(url: URL, base: URL): boolean {
  const path = base.pathname.replace(/\/$/, '');
  return url.origin === base.origin && (url.pathname === path || url.pathname.startsWith(`${path}/`));
}
