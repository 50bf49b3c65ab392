import { DURATION_PATTERN, parseDuration } from '../base/duration.ts';
import { isObject } from './exchange/shape.ts';

/** Settings for what the documents leave open. Values are drawn uniformly from ranges; all times are in ms. */
export interface Knobs {
  readonly provisionMs: MsRange;
  readonly suspendMs: MsRange;
  readonly resumeMs: MsRange;
  readonly destroyMs: MsRange;
  readonly serverLagMs: MsRange;
  readonly latencyMs: MsRange;
  readonly passwordCheckMs: number;
  readonly queryMs: number;
  readonly accessTokenMs: number;
  readonly serverTokenMs: number;
  readonly levelsNest: boolean;
  readonly transitionalOperations: 'refuse' | 'accept';
  readonly redundantOperations: 'refuse' | 'accept';
  readonly ruleViolationStatus: 400 | 403;
  readonly backupRequired: boolean;
  readonly cloneKeepsUsers: boolean;
  readonly resumeChangesAddress: boolean;
  readonly userUpdateEndsTokens: boolean;
  readonly acceptsAnyPassword: boolean;
  readonly ownership: 'dialect' | 'team' | 'organization' | 'both' | 'none';
  readonly extraFields: 'dialect' | 'none' | 'some';
  readonly echoSecrets: boolean;
}

export type MsRange = readonly [number, number];

/** How one knob is written, read and explained: flags, the admin interface and the manual are made from this table. */
export type KnobSpec =
  | { readonly kind: 'range' | 'ms' | 'boolean'; readonly flag: string; readonly about: string }
  | {
      readonly kind: 'choice';
      readonly choices: readonly (string | number)[];
      readonly flag: string;
      readonly about: string;
    };

export const KNOB_SPECS: { readonly [K in keyof Knobs]: KnobSpec } = {
  provisionMs: {
    kind: 'range',
    flag: 'provision-time',
    about: 'time from starting to running, after deploy and clone',
  },
  suspendMs: { kind: 'range', flag: 'suspend-time', about: 'time from suspending to suspended' },
  resumeMs: { kind: 'range', flag: 'resume-time', about: 'time from resuming to running' },
  destroyMs: { kind: 'range', flag: 'destroy-time', about: 'time from destroying to gone' },
  serverLagMs: { kind: 'range', flag: 'server-lag', about: 'how long a cluster is running before its servers are' },
  latencyMs: { kind: 'range', flag: 'latency', about: 'delay added to every answer' },
  passwordCheckMs: {
    kind: 'ms',
    flag: 'password-check-time',
    about: 'cost of a password check; a server makes one at a time',
  },
  queryMs: { kind: 'ms', flag: 'query-time', about: 'how long every query runs' },
  accessTokenMs: {
    kind: 'ms',
    flag: 'access-token-lifetime',
    about: 'lifetime of access tokens of the management API',
  },
  serverTokenMs: { kind: 'ms', flag: 'server-token-lifetime', about: 'lifetime of tokens of database servers' },
  levelsNest: { kind: 'boolean', flag: 'levels-nest', about: 'write includes read, admin includes both' },
  transitionalOperations: {
    kind: 'choice',
    flag: 'transitional-operations',
    choices: ['refuse', 'accept'],
    about: 'operations on a cluster that is starting, suspending, resuming or destroying',
  },
  redundantOperations: {
    kind: 'choice',
    flag: 'redundant-operations',
    choices: ['refuse', 'accept'],
    about: 'suspend of a suspended cluster, resume of a running one',
  },
  ruleViolationStatus: {
    kind: 'choice',
    flag: 'rule-violation-status',
    choices: [400, 403],
    about: 'status for a violated field rule',
  },
  backupRequired: {
    kind: 'boolean',
    flag: 'backup-required',
    about: 'deploy of a paid cluster must carry backupConfiguration',
  },
  cloneKeepsUsers: {
    kind: 'boolean',
    flag: 'clone-keeps-users',
    about: 'a clone has the users and passwords of its source',
  },
  resumeChangesAddress: {
    kind: 'boolean',
    flag: 'resume-changes-address',
    about: 'servers have other addresses after a resume',
  },
  userUpdateEndsTokens: {
    kind: 'boolean',
    flag: 'user-update-ends-tokens',
    about: 'updating a user ends all tokens and transactions of that user',
  },
  acceptsAnyPassword: {
    kind: 'boolean',
    flag: 'accepts-any-password',
    about: 'servers accept any password for a user that they have',
  },
  ownership: {
    kind: 'choice',
    flag: 'ownership',
    choices: ['dialect', 'team', 'organization', 'both', 'none'],
    about: 'fields that name the owner of a cluster: teamID and spaceID, or organization and project',
  },
  extraFields: {
    kind: 'choice',
    flag: 'extra-fields',
    choices: ['dialect', 'none', 'some'],
    about: 'undocumented fields in answers',
  },
  echoSecrets: {
    kind: 'boolean',
    flag: 'echo-secrets',
    about: 'error messages repeat the request with its secrets, to test redaction',
  },
};

/** No time passes unless a test asks for it. */
export const DEFAULT_KNOBS: Knobs = {
  provisionMs: [0, 0],
  suspendMs: [0, 0],
  resumeMs: [0, 0],
  destroyMs: [0, 0],
  serverLagMs: [0, 0],
  latencyMs: [0, 0],
  passwordCheckMs: 0,
  queryMs: 0,
  accessTokenMs: 3_600_000,
  serverTokenMs: 4 * 3_600_000,
  levelsNest: true,
  transitionalOperations: 'refuse',
  redundantOperations: 'refuse',
  ruleViolationStatus: 400,
  backupRequired: true,
  cloneKeepsUsers: true,
  resumeChangesAddress: false,
  userUpdateEndsTokens: true,
  acceptsAnyPassword: false,
  ownership: 'dialect',
  extraFields: 'dialect',
  echoSecrets: false,
};

/** For `mooring simulate` and the demo: slow enough to watch. */
export const SIMULATE_KNOBS: Knobs = {
  ...DEFAULT_KNOBS,
  provisionMs: [3_000, 3_000],
  suspendMs: [2_000, 2_000],
  resumeMs: [2_000, 2_000],
  destroyMs: [2_000, 2_000],
  passwordCheckMs: 60,
};

/** Parses knobs by name from JSON. Throws an Error that names the knob and its allowed values. */
export function parseKnobs(value: unknown): Partial<Knobs> {
  if (!isObject(value)) throw new Error('Knobs must be an object');
  const parsed: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(value)) parsed[name] = knownKnob(name, given);
  return parsed as Partial<Knobs>;
}

function knownKnob(name: string, given: unknown): unknown {
  if (!Object.hasOwn(KNOB_SPECS, name)) {
    throw new Error(`Unknown knob ${name}; there are ${Object.keys(KNOB_SPECS).join(', ')}`);
  }
  return parseKnob(name, KNOB_SPECS[name as keyof Knobs], given);
}

/** Parses knobs from flags by flag name. Flags that are not given are absent. */
export function parseKnobFlags(flags: Readonly<Record<string, unknown>>): Partial<Knobs> {
  const parsed: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries(KNOB_SPECS)) {
    const given = flags[spec.flag];
    if (given !== undefined) parsed[name] = parseKnob(`--${spec.flag}`, spec, given);
  }
  return parsed as Partial<Knobs>;
}

function parseKnob(name: string, spec: KnobSpec, given: unknown): unknown {
  switch (spec.kind) {
    case 'boolean':
      if (given === true || given === 'true') return true;
      if (given === false || given === 'false') return false;
      throw new Error(`${name} takes true or false`);
    case 'choice': {
      const choice = spec.choices.find((candidate) => String(candidate) === String(given));
      if (choice === undefined) throw new Error(`${name} takes one of ${spec.choices.join(', ')}`);
      return choice;
    }
    case 'ms': {
      const ms = parseMs(given);
      if (ms === undefined)
        throw new Error(`${name} takes a duration such as 60ms, 3s or 5m, not ${JSON.stringify(given)}`);
      return ms;
    }
    case 'range': {
      const range = parseRange(given);
      if (range === undefined)
        throw new Error(`${name} takes a duration such as 3s, or a range such as 1s-5s, not ${JSON.stringify(given)}`);
      return range;
    }
  }
}

/** A number, which only JSON has, is in milliseconds, as the knob's name says; a string has its unit. */
function parseMs(given: unknown): number | undefined {
  if (typeof given === 'number') return Number.isFinite(given) && given >= 0 ? given : undefined;
  const text = String(given);
  return DURATION_PATTERN.test(text) ? parseDuration(text) : undefined;
}

function parseRange(given: unknown): MsRange | undefined {
  const parts: readonly unknown[] = Array.isArray(given)
    ? given
    : typeof given === 'string'
      ? given.split('-')
      : [given];
  const [min, max] = [parseMs(parts[0]), parseMs(parts.length === 1 ? parts[0] : parts[1])];
  return min === undefined || max === undefined || parts.length > 2 || max < min ? undefined : [min, max];
}
