import { access, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from '../base/errors.ts';
import type { Simulator } from './interface.ts';
import { parseState, type SavedState } from './saved-state.ts';

/** Changes within this time are written together. */
const WRITE_AFTER_MS = 500;
/** The file holds hashes of passwords. */
const MODE = 0o600;

/**
 * Loads the saved state, or undefined if there is no file yet. Throws if the file is invalid, or if its folder does not
 * exist.
 */
export async function loadStateFile(path: string): Promise<SavedState | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    // A mistyped folder must not look like an empty cloud.
    await access(dirname(path));
    return undefined;
  }
  try {
    return parseState(text);
  } catch (error) {
    throw new Error(`${path} cannot be used: ${messageOf(error)}. Move it away to begin anew, or name another file`, {
      cause: error,
    });
  }
}

export interface StateFile {
  /** Writes any pending changes, and stops. */
  close(): Promise<void>;
}

/** Keeps the file up to date from now on. A reader sees either the old state or the new one, never a part. */
export function keepStateFile(simulator: Simulator, path: string, failed: (error: unknown) => void): StateFile {
  let cancel: (() => void) | undefined;
  let writing = Promise.resolve();
  const write = () => {
    cancel?.();
    cancel = undefined;
    writing = writing.then(() => replaceFile(path, JSON.stringify(simulator.save()))).catch(failed);
    return writing;
  };
  const unsubscribe = simulator.onChange(() => {
    cancel ??= simulator.clock.after(WRITE_AFTER_MS, () => void write());
  });
  return {
    close: async () => {
      unsubscribe();
      await write();
    },
  };
}

async function replaceFile(path: string, text: string): Promise<void> {
  const next = `${path}.next`;
  const file = await open(next, 'w', MODE);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(next, path);
}
