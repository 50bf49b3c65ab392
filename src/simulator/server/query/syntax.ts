import type { Primitive } from './data.ts';
import type { Annotations, Kind, ValueType } from './schema.ts';

/** A query as parsed, not yet checked against the schema. */
export type Query =
  | { readonly kind: 'define' | 'redefine'; readonly statements: readonly Definition[] }
  | { readonly kind: 'undefine'; readonly statements: readonly Undefinition[] }
  | { readonly kind: 'pipeline'; readonly given: readonly string[]; readonly stages: readonly Stage[] };

export type Definition =
  | {
      readonly what: 'type';
      /** Absent if an earlier definition is extended. */
      readonly kind: Kind | undefined;
      readonly label: string;
      readonly annotations: Annotations;
      readonly clauses: readonly Clause[];
    }
  | { readonly what: 'function'; readonly name: string; readonly text: string };

export type Clause =
  | { readonly clause: 'sub'; readonly label: string }
  | { readonly clause: 'value'; readonly valueType: ValueType }
  | { readonly clause: 'owns' | 'plays' | 'relates'; readonly label: string; readonly annotations: Annotations };

export type Undefinition =
  | { readonly what: 'type'; readonly label: string }
  | { readonly what: 'function'; readonly name: string }
  | {
      readonly what: 'capability';
      readonly capability: 'owns' | 'plays' | 'relates';
      readonly label: string;
      readonly from: string;
    };

export type Stage =
  | { readonly stage: 'match'; readonly patterns: readonly Pattern[] }
  | { readonly stage: 'insert' | 'update'; readonly patterns: readonly Pattern[] }
  | { readonly stage: 'delete'; readonly deletions: readonly Deletion[] }
  | { readonly stage: 'select'; readonly variables: readonly string[] }
  | { readonly stage: 'distinct' }
  | { readonly stage: 'sort'; readonly keys: readonly { readonly variable: string; readonly descending: boolean }[] }
  | { readonly stage: 'offset' | 'limit'; readonly count: number }
  | { readonly stage: 'reduce'; readonly reductions: readonly Reduction[]; readonly groupBy: readonly string[] }
  | { readonly stage: 'fetch'; readonly template: FetchObject };

export type Deletion =
  | { readonly what: 'instance'; readonly variable: string }
  | { readonly what: 'has'; readonly attribute: string; readonly owner: string };

export const REDUCERS = ['count', 'sum', 'min', 'max', 'mean'] as const;

export interface Reduction {
  readonly variable: string;
  readonly reducer: (typeof REDUCERS)[number];
  /** If absent for count, rows are counted. */
  readonly of: string | undefined;
}

/** A type or role by name or by variable. */
export type Reference = { readonly label: string } | { readonly variable: string };

export interface Role {
  /** Absent: any role. */
  readonly role: string | undefined;
  readonly player: string;
}

export const COMPARATORS = ['==', '!=', '<', '<=', '>', '>='] as const;
export type Comparator = (typeof COMPARATORS)[number];

export type Pattern =
  | { readonly pattern: 'isa'; readonly variable: string; readonly type: Reference }
  | { readonly pattern: 'iid'; readonly variable: string; readonly iid: string }
  | {
      readonly pattern: 'has';
      readonly owner: string;
      /** Absent: an attribute of any type. */
      readonly type: string | undefined;
      /** A variable that stands for the attribute, or what its value is compared with. */
      readonly value: { readonly variable: string } | { readonly comparator: Comparator; readonly operand: Expression };
    }
  | { readonly pattern: 'links'; readonly relation: string; readonly players: readonly Role[] }
  | {
      readonly pattern: 'compare';
      readonly left: Expression;
      readonly comparator: Comparator;
      readonly right: Expression;
    }
  | { readonly pattern: 'let'; readonly variable: string; readonly expression: Expression }
  | { readonly pattern: 'kind'; readonly variable: string; readonly kind: Kind }
  | { readonly pattern: 'label'; readonly variable: string; readonly label: string }
  | {
      readonly pattern: 'sub' | 'owns' | 'plays' | 'relates';
      readonly subject: Reference;
      readonly object: Reference;
    }
  | { readonly pattern: 'not' | 'try'; readonly patterns: readonly Pattern[] }
  | { readonly pattern: 'or'; readonly branches: readonly (readonly Pattern[])[] };

export type Expression =
  | { readonly expression: 'literal'; readonly valueType: ValueType; readonly value: Primitive }
  | { readonly expression: 'variable'; readonly variable: string }
  | {
      readonly expression: 'arithmetic';
      readonly operator: '+' | '-' | '*' | '/';
      readonly left: Expression;
      readonly right: Expression;
    };

export interface FetchObject {
  readonly fetch: 'object';
  readonly entries: readonly (readonly [string, FetchValue])[];
}

export type FetchValue =
  | FetchObject
  | { readonly fetch: 'expression'; readonly expression: Expression }
  /** `$x.name`, or `[$x.name]` for all of them. */
  | { readonly fetch: 'attribute'; readonly owner: string; readonly type: string; readonly all: boolean }
  /** `{ $x.* }` */
  | { readonly fetch: 'everything'; readonly owner: string }
  /** `[ match …; fetch …; ]` */
  | { readonly fetch: 'query'; readonly stages: readonly Stage[] };
