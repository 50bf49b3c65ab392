import { isSecretKey, MAX_DNS_NAME, SECRET_KEY } from '../../../kube/names.ts';
import type { Ruled } from '../../shared-schema.ts';

/* The texts of `connectionSecret.template`: placeholders are replaced, nothing is ever evaluated. */

/** What every connection Secret holds; a template cannot redefine it. */
const FIXED_KEYS = ['type', 'provider', 'host', 'port', 'username', 'password', 'uri', 'addresses'] as const;
export type FixedKey = (typeof FIXED_KEYS)[number];

/** The key of a coming password, until the server has accepted it. */
export const NEXT_PASSWORD = 'nextPassword';

const NAMES = FIXED_KEYS.join('|');
const PLACEHOLDER = String.raw`\{\{ *(${NAMES}) *(\| *urlencode *)?\}\}`;
/** Text, single braces, and known placeholders. */
const TEXT = String.raw`^([^{}]|\{[^{]|\}|${PLACEHOLDER})*$`;

/** For the API server, so that a mistake shows when the object is applied. */
export const TEMPLATE_RULES: readonly Ruled<Readonly<Record<string, string>>>[] = [
  {
    rule: `self.all(key, size(key) <= ${MAX_DNS_NAME} && key.matches('${SECRET_KEY}'))`,
    message:
      'template has a key that a Secret cannot have: use letters, digits, dots, underscores and hyphens, and do not begin with two dots',
    holds: (template) => Object.keys(template).every(isSecretKey),
  },
  {
    rule: `self.all(key, !(key in ${JSON.stringify([...FIXED_KEYS, NEXT_PASSWORD]).replaceAll('","', '", "')}))`,
    message: `template must not name ${FIXED_KEYS.join(', ')} or ${NEXT_PASSWORD}: every connection Secret has these keys`,
    holds: (template) => ![...FIXED_KEYS, NEXT_PASSWORD].some((key) => Object.hasOwn(template, key)),
  },
  // For an older object this is reported under a reason of its own.
  {
    rule: `self.all(key, self[key].matches(r'${TEXT}'))`,
    message: `template has an unknown placeholder: use {{ name }} or {{ name | urlencode }} with one of ${FIXED_KEYS.join(', ')}`,
  },
];

/** Returns the text with its placeholders replaced; undefined: one of them is not known. */
export function render(text: string, values: Readonly<Record<FixedKey, string>>): string | undefined {
  if (!new RegExp(TEXT).test(text)) return undefined;
  return text.replace(new RegExp(PLACEHOLDER, 'g'), (_, name: FixedKey, encode: string | undefined) =>
    encode === undefined ? values[name] : encodeURIComponent(values[name]),
  );
}
