import { messageOf } from './errors.ts';

/** Says why a process cannot listen, and what a person can do about it. `flag`: the flag that names another place. */
export function listenErrorMessage(error: unknown, flag: string): string {
  if (!(error instanceof Error && 'code' in error)) return messageOf(error);
  const {
    address,
    port,
    hostname = 'the host',
  } = error as { readonly address?: string; readonly port?: number; readonly hostname?: string };
  const place = `${address?.includes(':') ? `[${address}]` : (address ?? '')}:${port ?? ''}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return `${place} is in use (EADDRINUSE): end what listens there, or name another port with ${flag}`;
    case 'EACCES':
      return `${place} may not be used by this user (EACCES): name a port from 1024 up with ${flag}`;
    case 'EADDRNOTAVAIL':
      return `${place} is not an address of this machine (EADDRNOTAVAIL): name one that is with ${flag}`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${hostname} is neither an address nor a name that is known here (${error.code}): name another host with ${flag}`;
    default:
      return messageOf(error);
  }
}
