import { isRecord } from '../base/is-record.ts';

/** Applies a JSON merge patch, as in RFC 7386 section 2. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else if (value !== undefined) result[name] = mergePatch(result[name], value);
  }
  return result;
}
