import { BlockList, isIP } from 'node:net';

/*
 * What counts as an address, and which IP addresses are public. A tenant who names a host must not reach through the operator
 * what only the operator can reach: its own pod, the cluster's network, the machine's metadata service.
 */

/** IANA's registries of special-purpose addresses, and the metadata addresses of clouds. All IPv6 outside 2000::/3 is refused besides. */
const SPECIAL: readonly { readonly word: string; readonly networks: BlockList }[] = [
  { word: 'a loopback address', networks: networksOf(['127.0.0.0/8', '::1/128']) },
  {
    // 168.63.129.16 is Azure's host: public by its number only.
    word: 'a link-local address',
    networks: networksOf(['169.254.0.0/16', '168.63.129.16/32', 'fe80::/10']),
  },
  {
    word: 'a private address',
    networks: networksOf(['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10']),
  },
  {
    word: 'a reserved address',
    networks: networksOf([
      ...['0.0.0.0/8', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15', '198.51.100.0/24'],
      ...['203.0.113.0/24', '224.0.0.0/3', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
    ]),
  },
];
const GLOBAL_UNICAST = networksOf(['2000::/3']);
/** IPv4 in IPv6: mapped addresses, and those of NAT64, by which IPv6-only clusters reach IPv4. */
const WITH_IPV4 = networksOf(['::ffff:0:0/96', '64:ff9b::/96']);

/**
 * Splits `host:port`, or a host alone; undefined if it is neither. `host` is a name or an IP address. An IPv6 address has
 * brackets in the text, as in a URL, and none in `host`.
 */
export function splitAddress(text: string): { readonly host: string; readonly port: string | undefined } | undefined {
  const [, inBrackets, name, port] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const host = inBrackets ?? name;
  if (host === undefined || (inBrackets !== undefined && isIP(inBrackets) !== 6)) return undefined;
  return port !== undefined && (Number(port) < 1 || Number(port) > 65_535) ? undefined : { host, port };
}

/** Parses networks such as `10.0.0.0/8`, or single addresses. Throws RangeError on anything else. */
export function networksOf(texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [, address = '', length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
    const family = familyOf(address);
    const longest = family === 'ipv4' ? 32 : 128;
    const prefix = Number(length ?? longest);
    if (family === undefined || prefix > longest) {
      throw new RangeError(`"${text}" is not a network, such as 10.0.0.0/8 or fd00::/8`);
    }
    list.addSubnet(address, prefix, family);
  }
  return list;
}

/**
 * What kind of address it is, such as `a private address`, if it is neither public nor in `allowed`; undefined if requests may go
 * there. `address` is IPv4 or IPv6 in any form that a resolver gives.
 */
export function specialUseOf(address: string, allowed: BlockList): string | undefined {
  const bare = address.replace(/%.*$/, '');
  const meant = embeddedIPv4(bare) ?? bare;
  const family = familyOf(meant);
  if (family === undefined) return 'not an IP address';
  if (allowed.check(meant, family)) return undefined;
  const special = SPECIAL.find(({ networks }) => networks.check(meant, family));
  if (special !== undefined) return special.word;
  return family === 'ipv6' && !GLOBAL_UNICAST.check(meant, family) ? 'a reserved address' : undefined;
}

/** The IPv4 address that an IPv6 address stands for, if any. */
function embeddedIPv4(address: string): string | undefined {
  if (isIP(address) !== 6 || !WITH_IPV4.check(address, 'ipv6')) return undefined;
  // A URL has one form for each address, and its last two groups are the last four bytes.
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1).split(':');
  const [high = 0, low = 0] = groups.slice(-2).map((group) => Number.parseInt(group || '0', 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address);
  if (version === 0) return undefined;
  return version === 4 ? 'ipv4' : 'ipv6';
}
