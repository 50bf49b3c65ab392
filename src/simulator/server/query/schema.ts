export const KINDS = ['entity', 'relation', 'attribute'] as const;
export type Kind = (typeof KINDS)[number];

export const VALUE_TYPES = ['boolean', 'integer', 'double', 'string', 'date', 'datetime', 'datetime-tz'] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

/** What a schema says about one type. Replaced as a whole, never changed in place: transactions share it. */
export interface TypeDefinition {
  readonly label: string;
  readonly kind: Kind;
  readonly parent: string | undefined;
  readonly annotations: Annotations;
  /** For attribute types. */
  readonly valueType: ValueType | undefined;
  /** Attribute type label → annotations. */
  readonly owns: Capabilities;
  /** `relation:role` → annotations. */
  readonly plays: Capabilities;
  /** Role label → annotations, for relation types. */
  readonly relates: Capabilities;
}

/** Annotations as written, `@card(0..1)`, in the order of the schema text. */
export type Annotations = readonly string[];
export type Capabilities = ReadonlyMap<string, Annotations>;

export interface Schema {
  readonly types: ReadonlyMap<string, TypeDefinition>;
  /** Name → text of the definition. Functions are kept and shown, never called. */
  readonly functions: ReadonlyMap<string, string>;
}

export const EMPTY_SCHEMA: Schema = { types: new Map(), functions: new Map() };
