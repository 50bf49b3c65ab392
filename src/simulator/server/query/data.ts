import type { ValueType } from './schema.ts';

export type Primitive = string | number | boolean;

/** An attribute is its type and value: two with the same type and value are one. */
export interface Attribute {
  readonly type: string;
  readonly valueType: ValueType;
  readonly value: Primitive;
}

export interface RolePlayer {
  readonly role: string;
  readonly iid: string;
}

/** An entity or a relation. Replaced as a whole, never changed in place: transactions share it. */
export interface Thing {
  readonly iid: string;
  readonly type: string;
  readonly has: readonly Attribute[];
  readonly players: readonly RolePlayer[];
}

export type Data = ReadonlyMap<string, Thing>;

/** One change of data, small enough to be repeated on top of what others have committed since. */
export type Change =
  | { readonly change: 'create'; readonly thing: Thing }
  | { readonly change: 'delete'; readonly iid: string }
  | { readonly change: 'give'; readonly iid: string; readonly attribute: Attribute }
  | { readonly change: 'take'; readonly iid: string; readonly attribute: Attribute };

export const EMPTY_DATA: Data = new Map();

export const isSameAttribute = (a: Attribute, b: Attribute): boolean => a.type === b.type && a.value === b.value;
