import { z } from 'zod';
import { oneLine } from '../base/printable.ts';
import { maybe } from '../http/answer.ts';

/*
 * Answers of the Cluster Management API, read tolerantly: unknown fields are dropped, unknown words kept on one line, null is
 * absent. A value of the wrong type is an error, unless it can mean only one thing: a guess could mistake one cluster for another.
 */

export interface ClusterServer {
  /** Host and port. */
  readonly address: string;
  /** `pending` and `running` are known; others may come. */
  readonly status: string;
}

/** A cluster as the cloud shows it ("Cluster (response shape)"). Backup settings cannot be read back. */
export interface Cluster {
  /** Unique within its space. */
  readonly id: string;
  /** `starting`, `running`, `suspending`, `suspended`, `resuming`, `destroying` are known; others may come. `unknown` if there is none. */
  readonly status: string;
  /** With `id`, the cluster's identity. Milliseconds since the Unix epoch. */
  readonly createdAt: number | undefined;
  readonly version: string | undefined;
  readonly provider: string | undefined;
  readonly region: string | undefined;
  readonly machineType: string | undefined;
  /** May be `gp2` although `gp2-csi` was asked for (compatibility.md). */
  readonly storageType: string | undefined;
  /** Rounded. */
  readonly storageSizeGB: number | undefined;
  /** Undefined also if it is not a whole number. */
  readonly serverCount: number | undefined;
  readonly isFree: boolean | undefined;
  /** Those that already have an address. */
  readonly servers: readonly ClusterServer[];
}

/** Long enough for any word of a cloud. It appears in statuses, messages and logs. */
const MAX_WORD = 1_000;
const text = z.string().transform((given) => oneLine(given).slice(0, MAX_WORD));
const word = maybe(text);

/** The words of the document ("States and transitions"). */
const STATUSES: ReadonlySet<string> = new Set([
  'starting',
  'running',
  'suspending',
  'suspended',
  'resuming',
  'destroying',
  'pending',
]);

/** In whatever letters. A word that is not known is kept as it is. */
const status = word.transform((given = '') => {
  const known = given.trim().toLowerCase();
  return STATUSES.has(known) ? known : given || 'unknown';
});

/** Some servers write numbers as strings: digits can mean nothing else. */
const number = z.union(
  [
    z.number(),
    z
      .string()
      .regex(/^\d{1,16}$/)
      .transform(Number),
  ],
  'expected a number',
);

const serverSchema = z.object({ address: maybe(z.string()), status });

const serversSchema = maybe(z.array(serverSchema)).transform((servers): readonly ClusterServer[] =>
  (servers ?? []).flatMap(({ address, status }) =>
    address === undefined || address === '' ? [] : [{ address, status }],
  ),
);

/**
 * The document names no unit ("createdAt"), and its examples look like milliseconds. In this range, milliseconds mean 1970 to
 * 1973, seconds 2001 and later.
 */
const SECONDS = { from: 1e9, below: 1e11 };

/** A date alone, or one without a zone, names no moment. */
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
/** Programs write 0001-01-01T00:00:00Z for no time: it would be the identity of many clusters, until they have another. */
const ifAny = (time: number) => (time > 0 ? time : undefined);
const time = z.union(
  [
    z.number(),
    z
      .string()
      .regex(/^\d{10,15}$/)
      .transform(Number),
    z.string().regex(RFC_3339).transform(Date.parse).pipe(z.number()).transform(ifAny),
  ],
  'expected a time, such as 1763632800000 or 2025-11-20T10:00:00Z',
);

function inMilliseconds(time: number | undefined): number | undefined {
  const isInSeconds = time !== undefined && time >= SECONDS.from && time < SECONDS.below;
  return isInSeconds ? Math.round(time * 1000) : time;
}

/** A value that cannot be a count is dropped: the status has no room for it, and any other would be a guess. */
function whole(count: number | undefined): number | undefined {
  return Number.isSafeInteger(count) && Number(count) >= 0 ? count : undefined;
}

/** The document promises a number, and sizes are asked for in whole GB: up to half a GB more counts as the size asked for. */
function wholeGB(size: number | undefined): number | undefined {
  return size === undefined || size < 0 ? undefined : whole(Math.max(0, Math.ceil(size - 0.5)));
}

export const clusterSchema: z.ZodType<Cluster> = z.object({
  id: z.string().min(1),
  status,
  createdAt: maybe(time).transform(inMilliseconds),
  version: word,
  provider: word,
  region: word,
  machineType: word,
  storageType: word,
  storageSizeGB: maybe(number).transform(wholeGB),
  serverCount: maybe(number).transform(whole),
  isFree: maybe(z.boolean()),
  servers: serversSchema,
});

/** All that can be reported of a cluster that makes no sense otherwise. */
export const namedSchema = z.object({ id: z.string().min(1) });

export const versionsSchema = z.object({ availableVersions: z.array(text) });
