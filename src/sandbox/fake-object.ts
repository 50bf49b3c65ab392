import { isDeepStrictEqual } from 'node:util';
import { recordOf } from '../base/is-record.ts';
import { type AnyObject, EVENTS, KubeError, type Resource, SECRETS } from '../kube/api.ts';
import { isAnnotationKey, isLabelKey, isLabelValue, isObjectName, isSecretKey } from '../kube/names.ts';

/* How the API server stores an object, and what it refuses of one, as far as it matters here. */

/** An object as stored. Besides metadata, its fields are up to its kind. */
export type FakeObject = AnyObject & Readonly<Record<string, unknown>>;

/** Returns the object as it is stored: nothing instead of an empty list or map, and a Secret with a type and all of its texts in `data`. */
export function asStored({ plural, group }: Resource, object: FakeObject): FakeObject {
  const metadata = withoutEmpty(object.metadata, ['labels', 'annotations', 'finalizers', 'ownerReferences']);
  const { stringData, ...rest }: FakeObject = { ...object, metadata };
  // Only Secrets and ConfigMaps have data.
  if (group !== '') return rest;
  const texts = Object.entries(recordOf(stringData)).map(([key, text]) => [key, base64(String(text))]);
  const data = { ...recordOf(rest['data']), ...Object.fromEntries(texts) };
  const type = plural === SECRETS.plural ? { type: 'Opaque' } : {};
  return withoutEmpty({ ...type, ...rest, data }, ['data']);
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function withoutEmpty<T extends object>(object: T, names: readonly string[]): T {
  const isEmpty = (value: unknown) => value === null || (typeof value === 'object' && Object.keys(value).length === 0);
  const left = Object.entries(object).filter(([name, value]) => !names.includes(name) || !isEmpty(value));
  return Object.fromEntries(left) as T;
}

/** Refuses a new object that is invalid. */
export function refuseInvalid(object: FakeObject): void {
  const { name } = object.metadata as Partial<FakeObject['metadata']>;
  if (name === undefined) throw refused(422, 'Invalid', 'metadata.name: Required value');
  if (!isObjectName(name)) throw refused(422, 'Invalid', `metadata.name: Invalid value: "${name}"`);
  refuseWrongNames(object);
  refuseTwoControllers(object);
  refuseLongNote(object);
}

/** Refuses a change that makes an object invalid, or is not allowed. */
export function refuseChange(before: FakeObject, after: FakeObject): void {
  refuseWrongMetadata(before, after);
  refuseWrongNames(after);
  refuseTwoControllers(after);
  refuseOtherSecret(before, after);
}

function refuseWrongMetadata({ metadata: before }: FakeObject, { metadata: after }: FakeObject): void {
  if (after.uid !== before.uid) throw refused(422, 'Invalid', 'metadata.uid: field is immutable');
  const had = new Set(before.finalizers);
  const added = (after.finalizers ?? []).filter((name) => !had.has(name));
  if (before.deletionTimestamp !== undefined && added.length > 0) {
    throw refused(422, 'Invalid', `metadata.finalizers: Forbidden: no new finalizers can be added: ${added.join()}`);
  }
}

function refuseWrongNames({ metadata, data }: FakeObject): void {
  const { labels = {}, annotations = {} } = metadata;
  const wrong = [
    ...Object.keys(labels).filter((key) => !isLabelKey(key)),
    ...Object.values(labels).filter((value) => !isLabelValue(value)),
    ...Object.keys(annotations).filter((key) => !isAnnotationKey(key)),
    // Only Secrets and ConfigMaps have data.
    ...Object.keys(data ?? {}).filter((key) => !isSecretKey(key)),
  ];
  if (wrong.length > 0) throw refused(422, 'Invalid', `metadata or data: Invalid value: ${JSON.stringify(wrong[0])}`);
}

function refuseTwoControllers({ metadata: { ownerReferences = [] } }: FakeObject): void {
  if (ownerReferences.filter(({ controller }) => controller === true).length > 1)
    throw refused(422, 'Invalid', 'metadata.ownerReferences: Only one reference can have Controller set to true');
}

/** The type of a Secret can never change, nor can anything in it if it is immutable. */
function refuseOtherSecret(before: FakeObject, after: FakeObject): void {
  if (before['kind'] !== SECRETS.kind) return;
  const forbid = (field: string, cause: string, message: string) => {
    if (isDeepStrictEqual(before[field], after[field])) return;
    const fields = [{ field, message }];
    throw new KubeError(`${field}: ${message}`, { status: 422, reason: 'Invalid', causes: [cause], fields });
  };
  forbid('type', 'FieldValueInvalid', 'field is immutable');
  if (before['immutable'] !== true) return;
  for (const field of ['immutable', 'data'])
    forbid(field, 'FieldValueForbidden', 'field is immutable when `immutable` is set');
}

const MAX_NOTE_BYTES = 1024;

function refuseLongNote({ kind, note }: FakeObject): void {
  if (kind === EVENTS.kind && Buffer.byteLength(String(note ?? '')) > MAX_NOTE_BYTES)
    throw refused(422, 'Invalid', `note: can have at most ${MAX_NOTE_BYTES} characters`);
}

export function refused(status: number, reason: string, message: string): KubeError {
  return new KubeError(message, { status, reason });
}
