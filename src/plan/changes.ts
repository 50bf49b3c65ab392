import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../base/is-record.ts';

/** A field of the spec that gets another value; undefined: it is not set. */
export interface Change {
  /** For example `backup.retentionDays`. */
  readonly path: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** The differences between two specs, field by field; lists are compared whole. */
export function changesOf(from: unknown, to: unknown, path = ''): readonly Change[] {
  if (isDeepStrictEqual(from, to)) return [];
  if (!isRecord(from) || !isRecord(to)) return [{ path, from, to }];
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])].toSorted();
  return names.flatMap((name) => changesOf(from[name], to[name], path === '' ? name : `${path}.${name}`));
}
