import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What docs/conditions.md says of a reason. The words are kept there only. */
export interface ReasonHelp {
  readonly meaning: string;
  /** Absent if there is nothing to do. */
  readonly remedy: string | undefined;
  /** The chapter that it is in, such as "Tried again". */
  readonly chapter: string;
}

const DOCUMENT = join(import.meta.dirname, '../../docs/conditions.md');

/** A row of the document's tables. */
interface Row extends ReasonHelp {
  readonly reason: string;
  /** The kinds that have it, or "all". */
  readonly on: string;
}

type Rows = ReadonlyMap<string, readonly Row[]>;

/** Undefined: the document does not have the reason for this kind. */
export function reasonHelp(kind: string, reason: string, rows = documented()): ReasonHelp | undefined {
  const found = rows.get(reason) ?? [];
  return found.find(({ on }) => on.includes(kind)) ?? found.find(({ on }) => on === 'all');
}

/** The document's rows by reason. */
export function rowsIn(document: string): Rows {
  const chapters = document.split(/^## /m).map((text) => text.split('\n'));
  const rows = chapters.flatMap(([chapter = '', ...lines]) =>
    lines
      .filter((line) => line.startsWith('| `'))
      .map((line) => {
        const [reason = '', on = '', meaning = '', remedy] = cells(line);
        return { reason, on, meaning, remedy, chapter };
      }),
  );
  return Map.groupBy(
    rows.filter(({ chapter }) => chapter !== 'Condition types'),
    ({ reason }) => reason,
  );
}

function cells(row: string): readonly string[] {
  return row
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim().replaceAll('`', ''));
}

let known: Rows | undefined;

/** Read once, since it is needed for each of a thousand objects. */
function documented(): Rows {
  try {
    known ??= rowsIn(readFileSync(DOCUMENT, 'utf8'));
  } catch {
    // Without the document there is less help, but no harm.
    known = new Map();
  }
  return known;
}
