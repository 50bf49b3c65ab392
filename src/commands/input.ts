import { addAbortSignal, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { messageOf } from '../base/errors.ts';
import { UsageError } from '../plugin/command-line/arguments.ts';

/**
 * All of standard input. It is not read synchronously: that fails while whoever writes to the pipe has nothing yet, and Ctrl-C could not
 * end it. Throws UsageError if it cannot be read.
 */
export async function readInput(stdin: Readable, signal: AbortSignal): Promise<string> {
  try {
    return await text(addAbortSignal(signal, stdin));
  } catch (error) {
    throw signal.aborted ? error : new UsageError(`standard input cannot be read: ${messageOf(error)}`);
  }
}
