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
