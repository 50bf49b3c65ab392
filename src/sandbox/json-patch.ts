import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../base/is-record.ts';
import type { PatchOperation } from '../kube/api.ts';
import { mergePatch } from './merge-patch.ts';

/** Applies a JSON Patch (RFC 6902) to members of objects. Undefined: a test failed, or there is no such object. */
export function jsonPatch(target: object, patch: readonly PatchOperation[]): object | undefined {
  let result = target;
  for (const { op, path, value } of patch) {
    // Names with `~` or `/` are not used.
    const names = path.split('/').slice(1);
    const [name = '', parents] = [names.at(-1), names.slice(0, -1)];
    let parent: unknown = result;
    for (const each of parents) parent = isRecord(parent) ? parent[each] : undefined;
    if (!isRecord(parent)) return undefined;
    if (op === 'test' && !isDeepStrictEqual(parent[name], value)) return undefined;
    if (op === 'add')
      result = mergePatch(
        result,
        names.reduceRight((inner, each) => ({ [each]: inner }), value),
      ) as object;
  }
  return result;
}
