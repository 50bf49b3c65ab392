import { type BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { hostOf } from '../base/host-of.ts';
import { networksOf } from './address.ts';

const LOOPBACK = networksOf(['127.0.0.0/8', '::1/128']);

/** Returns the URL of the proxy to a server; undefined: there is none. Throws if the proxy is of a kind that is not supported. */
export type ProxyOf = (server: string) => string | undefined;

/** Finds the proxy to the API server as client-go does: the kubeconfig's, otherwise that of the environment. */
export function proxyFor(server: string, named: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
  return named ? usable(named, 'The proxy-url of the kubeconfig') : proxiesOf(env)(server);
}

/** Reads the environment once: HTTPS_PROXY or, for servers without TLS, HTTP_PROXY, unless NO_PROXY names the server. */
export function proxiesOf(env: NodeJS.ProcessEnv): ProxyOf {
  const either = (name: string) => env[name] || env[name.toLowerCase()] || undefined;
  const proxies = { HTTPS_PROXY: either('HTTPS_PROXY'), HTTP_PROXY: either('HTTP_PROXY') };
  const isExcepted = exceptionsOf(either('NO_PROXY') ?? '');
  return (server) => {
    const url = new URL(server);
    const variable = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
    const found = proxies[variable];
    return found === undefined || isExcepted(url) ? undefined : usable(found, variable);
  };
}

function usable(found: string, from: string): string {
  const text = found.includes('://') ? found : `http://${found}`;
  const proxy = URL.parse(text);
  if (isMisread(text, proxy)) throw new Error(`${from} cannot be read: ${ENCODING}`);
  if (proxy?.protocol === 'http:' || proxy?.protocol === 'https:') return proxy.href;
  // Not the URL itself: it may contain a password.
  const scheme = proxy === null ? 'cannot be read' : `begins with ${proxy.protocol}//`;
  throw new Error(`${from} ${scheme}: Mooring uses proxies by http:// and https:// only`);
}

const ENCODING = String.raw`in its login, %, /, \, ? and # must be written as %25, %2F, %5C, %3F and %23`;

/** Otherwise the beginning of a password counts as the port: if it is a number, it would be shown. */
function isMisread(text: string, proxy: URL | null): boolean {
  if (/:\/\/.*[/\\?#].*@/.test(text)) return true;
  try {
    decodeURIComponent(`${proxy?.username ?? ''}${proxy?.password ?? ''}`);
    return false;
  } catch {
    return true;
  }
}

/** Reports whether an entry of NO_PROXY means the server. */
type Exception = (host: string, port: string) => boolean;

/** Reads NO_PROXY as Go does: names with subdomains, addresses, networks, each with or without a port. This machine is always excepted. */
function exceptionsOf(text: string): (server: URL) => boolean {
  const entries = text.split(',').map((entry) => exceptionOf(entry.trim().toLowerCase()));
  return (server) => {
    const host = hostOf(server);
    if (host === 'localhost' || isIn(LOOPBACK, host)) return true;
    const port = server.port || (server.protocol === 'https:' ? '443' : '80');
    return entries.some((isMeant) => isMeant(host, port));
  };
}

function exceptionOf(entry: string): Exception {
  if (entry === '*') return () => true;
  const [, name = '', onlyPort] = /^\[?(.+?)\]?(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [];
  const isNamed = hostsOf(name);
  return (host, port) => (onlyPort === undefined || onlyPort === port) && isNamed(host);
}

function hostsOf(name: string): (host: string) => boolean {
  const networks = readNetwork(name);
  if (networks !== undefined) return (host) => isIn(networks, host);
  const below = name.replace(/^\*?\./, '');
  // URLs have no other form of names beyond ASCII.
  const domain = domainToASCII(below);
  if (domain === '') return () => false;
  return (host) => isIP(host) === 0 && (host.endsWith(`.${domain}`) || (host === domain && below === name));
}

/** Undefined: it is no network. As in Go, one that cannot be read, such as `10.0.0/8`, means nothing: the variable is written for many programs. */
function readNetwork(name: string): BlockList | undefined {
  // An interface's address, such as fe80::1%eth0, is none to Go, and in no URL.
  if (name.includes('%')) return undefined;
  try {
    return networksOf([name]);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function isIn(networks: BlockList, host: string): boolean {
  const family = isIP(host);
  return family !== 0 && networks.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
