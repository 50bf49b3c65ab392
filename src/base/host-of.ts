/** Returns the host that the URL names: a name or an IP address, without the brackets that an IPv6 address has in a URL. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
