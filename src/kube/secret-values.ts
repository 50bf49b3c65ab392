import { LEAST_SECRET, redactor } from '../http/redact.ts';
import { KubeError } from './api.ts';

/* A webhook that refuses a change to a Secret may repeat what is in it, and its message ends up in statuses and logs. */

/** Keys whose values are words, names and addresses. Any other may hold a password, even within a text. */
const OPEN: ReadonlySet<string> = new Set(['type', 'provider', 'host', 'port', 'username', 'uri', 'addresses']);

/** Returns the values in a Secret's data that nobody may be shown. */
export function secretValues(data: Iterable<readonly [key: string, value: string]>): readonly string[] {
  return [...data].flatMap(([key, value]) => (OPEN.has(key) || value.length < LEAST_SECRET ? [] : [value]));
}

/** Returns the same error without any of the values. */
export function withoutValues(error: KubeError, values: readonly string[]): KubeError {
  const redacted = redactor(values);
  const { status, reason, retryAfterMs, causes } = error;
  const fields = error.fields.map(({ field, message }) => ({ field, message: redacted(message) }));
  return new KubeError(redacted(error.message), { status, reason, retryAfterMs, causes, fields });
}
