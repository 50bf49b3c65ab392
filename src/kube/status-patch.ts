import { isDeepStrictEqual } from 'node:util';
import type { AnyObject } from './api.ts';

/**
 * Returns the JSON merge patch (RFC 7386) that turns `before` into `before` with `changes` applied, by top-level field; undefined if
 * nothing differs, so that nothing is written. Objects inside are compared whole; a key that such an object has lost is patched with
 * null, because a merge would keep it.
 */
export function statusPatch(before: object, changes: object): Record<string, unknown> | undefined {
  const known = new Map(Object.entries(before));
  const patch: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(changes)) {
    if (value === undefined) continue;
    const old = known.get(field);
    if (value === null ? old !== undefined : !isSame(value, old)) patch[field] = merged(old, value);
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** Returns the status as the API has it: any object may have one. */
export function statusOf({ status }: Pick<AnyObject, 'status'>): object {
  return isObject(status) ? status : {};
}

function merged(old: unknown, value: unknown): unknown {
  if (!isObject(old) || !isObject(value)) return value;
  const gone = Object.keys(old).filter((key) => value[key] === undefined);
  return { ...value, ...Object.fromEntries(gone.map((key) => [key, null])) };
}

function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other) || isDeepStrictEqual(plain(one), plain(other));
}

/** Returns the value as JSON has it, without keys that are undefined. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
