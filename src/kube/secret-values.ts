import { LEAST_SECRET, redactor } from '../base/redact.ts';
import { KubeError } from './api.ts';

/* A webhook that refuses a change of a Secret may repeat what is in it, and what it says comes to stand in statuses and logs. */

/** Keys whose values are words, names and addresses. Any other may hold a password, be it within a text. */
const OPEN: ReadonlySet<string> = new Set(['type', 'provider', 'host', 'port', 'username', 'uri', 'addresses']);

/** What of a Secret's data nobody may be shown. */
export function secretValues(data: Iterable<readonly [key: string, value: string]>): readonly string[] {
  return [...data].flatMap(([key, value]) => (OPEN.has(key) || value.length < LEAST_SECRET ? [] : [value]));
}

/** The same error, which shows none of the values. */
export function withoutValues(error: KubeError, values: readonly string[]): KubeError {
  const redacted = redactor(values);
  const { status, reason, retryAfterMs, causes } = error;
  const fields = error.fields.map(({ field, message }) => ({ field, message: redacted(message) }));
  return new KubeError(redacted(error.message), { status, reason, retryAfterMs, causes, fields });
}
