/** `document`: the two documents to the letter. `field`: as servers were seen to behave (compatibility.md). */
export const DIALECTS = ['document', 'field'] as const;
export type Dialect = (typeof DIALECTS)[number];

/** Every way in which servers in the field differ from the documents: one property per sentence of compatibility.md. */
export interface DialectRules {
  /** "Schema and type schema come as plain text, not as a JSON string". */
  readonly schemaText: 'jsonString' | 'plainText';
  /** "an undefined schema reads `define`, not an empty string". */
  readonly undefinedSchema: '' | 'define';
  /** "cut answers are 206 with `warning`". */
  readonly cutAnswersStatus: 200 | 206;
  /** "Optional keys are present with null instead of absent". The document itself says null for `warning`. */
  readonly absentKeys: 'absent' | 'null';
  /** "unknown keys appear". */
  readonly unknownKeys: boolean;
  /** "The rows field of a query is called `givenRows`; `given` is ignored there". */
  readonly givenField: 'given' | 'givenRows';
  /** "Deleting a missing database and opening a transaction on one give 400, not 404". */
  readonly missingDatabaseStatus: 404 | 400;
  /** "creating an existing database gives 200". */
  readonly existingDatabaseStatus: 400 | 200;
  /** "a missing token gives 401 everywhere"; the document calls such a request malformed. */
  readonly missingTokenStatus: 400 | 401;
  /** "Close answers 200 for transactions that are already gone". */
  readonly closeGoneStatus: 404 | 200;
  /** "After rollback the transaction is still open and still holds its lock"; the document leaves it open. */
  readonly rollback: 'closes' | 'staysOpen';
  /** "A failed write or schema query closes its transaction, a syntax error does not". */
  readonly failedChange: 'staysOpen' | 'closes';
  /** "Commit of a read transaction is 400". */
  readonly commitReadStatus: 200 | 400;
  /** The default of `commit` on the one-shot query is not documented: clients must not depend on it. */
  readonly commitDefault: boolean;
  /** "Error bodies may be missing (404 and 405 from the router)". */
  readonly routerErrors: 'object' | 'missing';
  /** "or plain text": the answer to a body that is not a JSON object of the right shape. */
  readonly malformedErrors: 'object' | 'plainText';
  /** "`code` values are not stable". */
  readonly codes: 'stable' | 'drawn';
  /** "421 with `primaryAddress`" for changes sent to a server that is not the first of several. */
  readonly secondaryServers: 'serve' | 'redirect';
  /** "`storageType` may come back as `gp2` for `gp2-csi`". */
  readonly storageTypeNames: Readonly<Record<string, string>>;
  /** "Responses carry `teamID`/`spaceID` or `organization`/`project`". */
  readonly ownership: 'team' | 'organization';
}

export const DIALECT_RULES: Readonly<Record<Dialect, DialectRules>> = {
  document: {
    schemaText: 'jsonString',
    undefinedSchema: '',
    cutAnswersStatus: 200,
    absentKeys: 'absent',
    unknownKeys: false,
    givenField: 'given',
    missingDatabaseStatus: 404,
    existingDatabaseStatus: 400,
    missingTokenStatus: 400,
    closeGoneStatus: 404,
    rollback: 'closes',
    failedChange: 'staysOpen',
    commitReadStatus: 200,
    commitDefault: false,
    routerErrors: 'object',
    malformedErrors: 'object',
    codes: 'stable',
    secondaryServers: 'serve',
    storageTypeNames: {},
    ownership: 'team',
  },
  field: {
    schemaText: 'plainText',
    undefinedSchema: 'define',
    cutAnswersStatus: 206,
    absentKeys: 'null',
    unknownKeys: true,
    givenField: 'givenRows',
    missingDatabaseStatus: 400,
    existingDatabaseStatus: 200,
    missingTokenStatus: 401,
    closeGoneStatus: 200,
    rollback: 'staysOpen',
    failedChange: 'closes',
    commitReadStatus: 400,
    commitDefault: true,
    routerErrors: 'missing',
    malformedErrors: 'plainText',
    codes: 'drawn',
    secondaryServers: 'redirect',
    storageTypeNames: { 'gp2-csi': 'gp2' },
    ownership: 'organization',
  },
};
