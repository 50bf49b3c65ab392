import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What docs/conditions.md says of a reason: the same words, so that there is one place for them. */
export interface ReasonHelp {
  readonly meaning: string;
  /** Absent where nothing is to be done. */
  readonly remedy: string | undefined;
  /** The chapter it stands in, such as "Tried again". */
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

/** Read once: of a thousand objects each asks. */
function readDocument(): string {
  try {
    known ??= readFileSync(DOCUMENT, 'utf8');
  } catch {
    // Without the document there is less help, and no harm.
    known = '';
  }
  return known;
}
