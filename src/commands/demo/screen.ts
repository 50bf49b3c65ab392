import { type Clock, sleep } from '../../base/clock.ts';

export interface ScreenOptions {
  readonly write: (text: string) => void;
  /** Whether a person watches: then what is under way is shown, and replaced by how it ended. */
  readonly terminal: boolean;
  readonly color: boolean;
  /** Characters a line; undefined: any number. */
  readonly columns: number | undefined;
  readonly clock: Clock;
}

export interface Screen {
  line(text?: string): void;
  heading(text: string): void;
  /** A line from elsewhere, such as a build. */
  note(text: string): void;
  /** Runs something that takes time, then shows in one line what it was, how long it took, and what `describe` says. */
  step<T>(label: string, run: () => Promise<T>, describe?: (result: T) => string): Promise<T>;
  /** Text in the colour of its meaning, if there are colours. */
  paint(meaning: Meaning, text: string): string;
  /** Cuts the text to the width of the terminal, if it is one. */
  fit(text: string): string;
}

export type Meaning = 'good' | 'bad' | 'busy' | 'dim' | 'strong';

const CODES: Readonly<Record<Meaning, string>> = { good: '32', bad: '31', busy: '33', dim: '2', strong: '1' };
const CLEAR_LINE = '\r\u001b[K';
const LABEL_WIDTH = 24;
/** In a narrower window lines are better wrapped: cut, they would end before what they are about. */
const NARROW = 60;

/** Prints lines for people; without a terminal the same lines, plain. */
export function createScreen({ write, terminal, color, columns, clock }: ScreenOptions): Screen {
  let pending = '';
  const paint = (meaning: Meaning, text: string) => (color ? `\u001b[${CODES[meaning]}m${text}\u001b[0m` : text);
  const print = (text: string) => write(`${pending === '' ? '' : CLEAR_LINE}${text}\n${pending}`);
  const show = (text: string) => {
    if (!terminal) return;
    write(`${pending === '' ? '' : CLEAR_LINE}${text}`);
    pending = text;
  };
  return {
    paint,
    line: (text = '') => print(text),
    heading: (text) => print(`\n${paint('strong', text)}`),
    note: (text) => print(paint('dim', text.replace(/^/gm, '      '))),
    fit: (text) =>
      columns === undefined || columns < NARROW || text.length <= columns ? text : `${text.slice(0, columns - 1)}…`,
    async step(label, run, describe) {
      const begin = clock.monotonic();
      show(`  ${paint('busy', '…')} ${label}`);
      const seconds = () => `${((clock.monotonic() - begin) / 1000).toFixed(1).padStart(6)} s`;
      const end = (mark: string, more: string) => {
        show('');
        print(`  ${mark} ${label.padEnd(LABEL_WIDTH)} ${seconds()}${more === '' ? '' : `   ${paint('dim', more)}`}`);
      };
      try {
        const result = await run();
        end(paint('good', '✓'), describe?.(result) ?? '');
        return result;
      } catch (error) {
        end(paint('bad', '✗'), '');
        throw error;
      }
    },
  };
}

/** Repeats `check` until it returns something; undefined if time runs out or the signal aborts. */
export async function poll<T>(
  check: () => T | undefined | Promise<T | undefined>,
  { clock, everyMs, forMs, signal }: { clock: Clock; everyMs: number; forMs: number; signal: AbortSignal },
): Promise<T | undefined> {
  const end = clock.monotonic() + forMs;
  for (;;) {
    const found = await check();
    if (found !== undefined || signal.aborted || clock.monotonic() >= end) return found;
    await sleep(clock, everyMs, signal);
  }
}
