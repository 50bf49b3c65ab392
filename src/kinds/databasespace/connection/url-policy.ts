import { type BlockList, isIP } from 'node:net';
import { hostOf } from '../../../base/host-of.ts';
import { networksOf, specialUseOf } from '../../../http/address.ts';
import type { ConnectionGuard } from '../../../http/undici-transport.ts';

/** Where the operator may send requests, whatever a manifest or the cloud says. */
export interface UrlPolicy {
  /** http to hosts other than loopback. */
  readonly allowHTTP: boolean;
  /** Base URLs of the cloud that are allowed, as prefixes by whole path segments; undefined: all. */
  readonly allowedBaseURLs: readonly string[] | undefined;
  /** Networks, such as `10.0.0.0/8`, that may be reached besides public addresses; undefined: all. */
  readonly allowedNetworks: readonly string[] | undefined;
}

export const LOOPBACK_NETWORKS: readonly string[] = ['127.0.0.0/8', '::1/128'];

/** What a proxy or server may decode, or drop, to a path outside: an encoded dot, slash, backslash or percent sign, or `..;`. */
const LEADS_OUT = /%(2e|2f|5c|25)|\.\.;/i;

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Returns why the base URL is not allowed, as text that follows the field's name; undefined: it is. */
export function refusalOfURL(text: string, policy: UrlPolicy): string | undefined {
  const url = URL.parse(text);
  if (url === null) return `"${text}" is not a URL: write one such as https://cloud.example.com`;
  const refusal = refusalOfScheme(text, url, policy);
  if (refusal !== undefined) return refusal;
  const allowed = policy.allowedBaseURLs;
  if (allowed === undefined) return refusalOfLiteral(url, policy);
  if (isListed(url, allowed)) return undefined;
  return `"${text}" is not among the operator's --allowed-base-urls (${allowed.join(', ')}): use one of these, or have it added`;
}

/**
 * Returns why the URL that `serverURL` makes for a server is not allowed, like `refusalOfURL`. If base URLs are listed, logins go only
 * to hosts that a listed cloud named: `host` is what it called the server.
 */
export function refusalOfServerURL(text: string, host: string, policy: UrlPolicy): string | undefined {
  const url = URL.parse(text);
  if (url === null) return `"${text}" is not a URL: check serverURL of the DatabaseSpace`;
  const refusal = refusalOfScheme(text, url, policy);
  if (refusal !== undefined) return refusal;
  const allowed = policy.allowedBaseURLs;
  if (allowed !== undefined) {
    if (isListed(url, allowed)) return undefined;
    if (url.hostname !== URL.parse(`${url.protocol}//${host}`)?.hostname) {
      return `"${text}" is not at "${host}", the address that the cloud gave: use {host} alone as the host in serverURL, or have the URL added to the operator's --allowed-base-urls`;
    }
  }
  return refusalOfLiteral(url, policy);
}

/** Returns the policy for connections, which also covers the addresses that names resolve to. Undefined: nothing is refused. */
export function connectionGuard(policy: UrlPolicy): ConnectionGuard | undefined {
  if (policy.allowedNetworks === undefined) return undefined;
  const networks = networksOf(policy.allowedNetworks);
  const trusted = new Set((policy.allowedBaseURLs ?? []).map((url) => new URL(url).origin));
  return {
    trusts: (origin) => trusted.has(origin),
    refusalOf: (host, address) => refusalOfAddress(host, address, networks),
  };
}

function refusalOfScheme(text: string, url: URL, { allowHTTP }: UrlPolicy): string | undefined {
  const mayBeHTTP = url.protocol === 'http:' && (LOOPBACK.test(url.hostname) || allowHTTP);
  if (url.protocol === 'https:' || mayBeHTTP) return undefined;
  return `"${text}" is not https: use https, or start the operator with --allow-http`;
}

/** Checks an address in the URL itself: what a name resolves to is checked when a connection is made. */
function refusalOfLiteral(url: URL, { allowedNetworks }: UrlPolicy): string | undefined {
  const host = hostOf(url);
  if (allowedNetworks === undefined || isIP(host) === 0) return undefined;
  const networks = known.get(allowedNetworks) ?? networksOf(allowedNetworks);
  known.set(allowedNetworks, networks);
  return refusalOfAddress(host, host, networks);
}

/** Each policy's networks, cached because every pass needs them. */
const known = new WeakMap<readonly string[], BlockList>();

function refusalOfAddress(host: string, address: string, allowed: BlockList): string | undefined {
  const word = specialUseOf(address, allowed);
  if (word === undefined) return undefined;
  const where = host === address ? `"${host}" is ${word}` : `"${host}" is at ${address}, ${word}`;
  return `${where}, where the operator sends nothing unless told to: use a public address, or have it added to the operator's --allowed-networks`;
}

function isListed(url: URL, bases: readonly string[]): boolean {
  return bases.some((base) => isWithin(url, new URL(base)));
}

function isWithin(url: URL, base: URL): boolean {
  const path = base.pathname.replace(/\/$/, '');
  const isBelow = url.pathname === path || url.pathname.startsWith(`${path}/`);
  return url.origin === base.origin && isBelow && (path === '' || !LEADS_OUT.test(url.pathname.slice(path.length)));
}
