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

/** Undefined: the document does not have the reason for this kind. */
export function reasonHelp(kind: string, reason: string, document = readDocument()): ReasonHelp | undefined {
  let chapter = '';
  const found: (ReasonHelp & { readonly exact: boolean })[] = [];
  for (const line of document.split('\n')) {
    if (line.startsWith('## ')) chapter = line.slice(3);
    const [word, on = '', meaning = '', remedy] = line.startsWith('| `') ? cells(line) : [];
    if (word !== reason || chapter === 'Condition types') continue;
    const exact = on.includes(kind);
    if (exact || on === 'all') found.push({ meaning, remedy, chapter, exact });
  }
  const best = found.find(({ exact }) => exact) ?? found[0];
  return best === undefined ? undefined : { meaning: best.meaning, remedy: best.remedy, chapter: best.chapter };
}

function cells(row: string): readonly string[] {
  return row
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim().replaceAll('`', ''));
}

let known: string | undefined;

/** Read once, since it is needed for each of a thousand objects. */
function readDocument(): string {
  try {
    known ??= readFileSync(DOCUMENT, 'utf8');
  } catch {
    // Without the document there is less help, but no harm.
    known = '';
  }
  return known;
}
