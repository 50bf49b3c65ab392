/** A type whose objects and arrays, at every depth, may be read only. */
export type Immutable<T> = T extends (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Immutable<T[Key]> }
    : T;

/** The same value, of which nothing can be changed any more, at any depth. What is frozen already is taken to be so. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  // Not by Object.values, whose lists would be a tenth of a start's garbage.
  if (Array.isArray(value)) for (const item of value) frozen(item);
  else for (const name in value) frozen(value[name]);
  return Object.freeze(value);
}

/** The same value, frozen, and sharing with this one only what was frozen already: whoever has this one may go on changing it. */
export function frozenCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy)) as T;
  const copy: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(value)) copy[name] = frozenCopy(each);
  return Object.freeze(copy) as T;
}
