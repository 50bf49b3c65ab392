import { TerminalError } from '../../../base/errors.ts';
import { splitAddress } from '../../../http/address.ts';
import { refusalOfServerURL, type UrlPolicy } from './url-policy.ts';

/** Returns the URL that the template makes of the address, or why no login may be sent there. */
export function serverURLOf(
  address: string,
  template: string,
  policy: UrlPolicy,
):
  | { readonly url: string; readonly refusal?: undefined }
  | { readonly url?: undefined; readonly refusal: TerminalError } {
  const parts = splitAddress(address);
  // Any other text may lead anywhere.
  if (parts === undefined) {
    const message = `The cloud's answer makes no sense: ${addressWords(address)} is not the host and port of a server`;
    return { refusal: new TerminalError('CloudAnswerUnusable', message) };
  }
  const host = parts.host.includes(':') ? `[${parts.host}]` : parts.host;
  const url = template.replaceAll('{host}', host).replaceAll('{port}', parts.port ?? '443');
  const refusal = refusalOfServerURL(url, host, policy);
  return refusal === undefined
    ? { url }
    : { refusal: new TerminalError('ServerURLNotAllowed', `serverURL ${refusal}`) };
}

/** Returns the address for a message, quoted and shortened, as it may be any text. */
export function addressWords(address: string): string {
  return JSON.stringify(address.slice(0, MAX_ADDRESS_WORDS));
}

/** The longest possible host name, and a port. */
const MAX_ADDRESS_WORDS = 260;
