import { type BlockList, isIP } from 'node:net';
import { networksOf } from '../base/address.ts';

const LOOPBACK = networksOf(['127.0.0.0/8', '::1/128']);
/** An address with the length of its network's prefix. */
const NETWORK = /^[0-9a-f.:]+\/\d{1,3}$/;

/**
 * The URL of the proxy by which the server is reached, as client-go finds it: that of the kubeconfig, else HTTPS_PROXY or, for a
 * server without TLS, HTTP_PROXY, where NO_PROXY does not name the server. Throws where it is none that there is a way through.
 */
export function proxyFor(server: string, named: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
  const url = new URL(server);
  const variable = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const either = (name: string) => env[name] || env[name.toLowerCase()] || undefined;
  const found = named || either(variable);
  if (found === undefined || (!named && isExcepted(url, either('NO_PROXY') ?? ''))) return undefined;
  const proxy = URL.parse(found.includes('://') ? found : `http://${found}`);
  if (proxy?.protocol === 'http:' || proxy?.protocol === 'https:') return proxy.href;
  // Not the URL itself: a password may stand in it.
  const scheme = proxy === null ? 'cannot be read' : `begins with ${proxy.protocol}//`;
  throw new Error(
    `${named ? 'The proxy-url of the kubeconfig' : variable} ${scheme}: Mooring uses proxies by http:// and https:// only`,
  );
}

/** As Go reads NO_PROXY: names with what is below them, addresses, networks, each with a port or without; and never a proxy for this machine. */
function isExcepted({ protocol, hostname, port }: URL, exceptions: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (host === 'localhost' || isIn(LOOPBACK, host)) return true;
  const ownPort = port || (protocol === 'https:' ? '443' : '80');
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

/** One that cannot be read, such as `10.0.0/8`, has no address in it, as for Go: the variable is written for many programs. */
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
