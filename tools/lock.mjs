// A lock between processes, in plain JavaScript because the bootstrap uses it before Node can run TypeScript.
// It saves work but does not guarantee correctness: what is done under it must be atomic by itself, because two
// processes that find the same abandoned lock at the same instant may both go on.
import { mkdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const BEAT_MS = 2_000;
const STALE_MS = 15_000;
const POLL_MS = 250;

export async function withLock(path, onWait, run) {
  mkdirSync(dirname(path), { recursive: true });
  for (let waiting = false; !take(path); await sleep(POLL_MS)) {
    if (!waiting) onWait();
    waiting = true;
  }
  // The folder's time, not a process id, shows that the holder is alive: that works across containers too.
  const beat = setInterval(() => touch(path), BEAT_MS);
  const release = () => rmSync(path, { recursive: true, force: true });
  process.once('exit', release);
  try {
    return await run();
  } finally {
    clearInterval(beat);
    process.off('exit', release);
    release();
  }
}

function take(path) {
  if (ageMs(path) > STALE_MS) discard(path);
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
}

function ageMs(path) {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0; // // It is free.
  }
}

/** Removes it in one step, so that only one of several waiting processes does. */
function discard(path) {
  const aside = `${path}.stale-${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return; // // Another process was faster.
  }
  rmSync(aside, { recursive: true, force: true });
}

function touch(path) {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // Another process took the lock over while this one was stopped (a sleeping laptop); the work goes on.
  }
}
