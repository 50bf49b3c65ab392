import { type BlockList, isIP } from 'node:net';
import { hostOf } from '../base/host-of.ts';
import { networksOf } from './address.ts';

const LOOPBACK = networksOf(['127.0.0.0/8', '::1/128']);
/** An address with the length of its network's prefix. */
const NETWORK = /^[0-9a-f.:]+\/\d{1,3}$/;

/**
 * Returns the URL of the proxy to the server, as client-go finds it: the kubeconfig's, otherwise HTTPS_PROXY or, for a server without
 * TLS, HTTP_PROXY, unless NO_PROXY names the server. Throws if the proxy is of a kind that is not supported.
 */
export function proxyFor(server: string, named: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
  const url = new URL(server);
  const variable = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const either = (name: string) => env[name] || env[name.toLowerCase()] || undefined;
  const found = named || either(variable);
  if (found === undefined || (!named && isExcepted(url, either('NO_PROXY') ?? ''))) return undefined;
  const proxy = URL.parse(found.includes('://') ? found : `http://${found}`);
  if (proxy?.protocol === 'http:' || proxy?.protocol === 'https:') return proxy.href;
  // Not the URL itself: it may contain a password.
  const scheme = proxy === null ? 'cannot be read' : `begins with ${proxy.protocol}//`;
  throw new Error(
    `${named ? 'The proxy-url of the kubeconfig' : variable} ${scheme}: Mooring uses proxies by http:// and https:// only`,
  );
}

/** Reads NO_PROXY as Go does: names with subdomains, addresses, networks, each with or without a port. This machine is always excepted. */
function isExcepted(server: URL, exceptions: string): boolean {
  const host = hostOf(server);
  if (host === 'localhost' || isIn(LOOPBACK, host)) return true;
  const ownPort = server.port || (server.protocol === 'https:' ? '443' : '80');
  return exceptions.split(',').some((each) => {
    const entry = each.trim().toLowerCase();
    if (entry === '') return false;
    if (entry === '*') return true;
    if (NETWORK.test(entry)) return isInNetwork(entry, host);
    const [, name = '', onlyPort] = /^\[?(.+?)\]?(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [];
    if (onlyPort !== undefined && onlyPort !== ownPort) return false;
    if (isIP(host) !== 0) return name === host;
    const below = name.replace(/^\*?\./, '');
    return host.endsWith(`.${below}`) || (host === below && below === name);
  });
}

/** As in Go, a network that cannot be read, such as `10.0.0/8`, contains no address: the variable is written for many programs. */
function isInNetwork(network: string, host: string): boolean {
  try {
    return isIn(networksOf([network]), host);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function isIn(networks: BlockList, host: string): boolean {
  const family = isIP(host);
  return family !== 0 && networks.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
