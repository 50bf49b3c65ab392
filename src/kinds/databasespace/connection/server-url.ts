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
    : { refusal: new TerminalError('ServerURLNotAllowed', `serverURL of the DatabaseSpace: ${refusal}`) };
}

/** Of any template that can work, one of these makes an allowed URL: by http only loopback may be reached. */
const SAMPLES = ['localhost:443', 'db.example.com:443'];

/** Returns why the template makes of no address a URL that a login may be sent to; undefined: it may of some. */
export function refusalOfTemplate(template: string, policy: UrlPolicy): TerminalError | undefined {
  // Whether it is a URL that the operator lists depends on the address.
  const unlisted =
    policy.allowedBaseURLs === undefined
      ? policy
      : { ...policy, allowedBaseURLs: undefined, allowedNetworks: undefined };
  const refusals = SAMPLES.map((address) => serverURLOf(address, template, unlisted).refusal);
  const last = refusals.at(-1);
  if (last === undefined || refusals.includes(undefined)) return undefined;
  return new TerminalError(last.reason, `${last.message}. Here ${SAMPLES.at(-1)} stands for the address of any server`);
}

/**
 * Returns the address that a server means by the primary's, of those that the cloud shows if it is one of them. No document says how
 * it is written, so it may be a URL, and name no port, or that of another protocol. undefined: it is no address.
 */
export function addressMeant(named: string, shown: readonly string[]): string | undefined {
  const bare = withoutScheme(named);
  const meant = splitAddress(bare);
  if (meant === undefined) return undefined;
  const there = shown.filter((each) => splitAddress(each) !== undefined && hostIn(each) === hostIn(bare));
  const exact = there.find((each) => splitAddress(each)?.port === meant.port);
  return exact ?? (there.length === 1 ? there[0] : bare);
}

/** In the one form that it has in URLs: an IPv6 address can be written in many. */
function hostIn(address: string): string {
  return URL.parse(`http://${address}`)?.hostname ?? address.toLowerCase();
}

function withoutScheme(address: string): string {
  return address
    .trim()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/\/$/, '');
}

/** Returns the address for a message, quoted and shortened, as it may be any text. */
export function addressWords(address: string): string {
  return JSON.stringify(address.slice(0, MAX_ADDRESS_WORDS));
}

/** The longest possible host name, and a port. */
const MAX_ADDRESS_WORDS = 260;
