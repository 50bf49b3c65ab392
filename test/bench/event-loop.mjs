// Loaded before the operator, in its process: measures how long its event loop is blocked while the benchmark watches it. Not always, as
// a timer every four milliseconds takes 2 % of a core. Node's own histogram, behind nodejs_eventloop_lag_max_seconds, includes the time
// between two looks in each figure: up to ten milliseconds too much.
import { openSync, readSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import process from 'node:process';

const LOOK_MS = 4;

let timer;
let last;
/** A figure is at most `LOOK_MS` too high. */
let longestMs;
/** The same without the time in which the main thread had work, but no core. */
let longestOwnMs;

function look() {
  const now = { atMs: performance.now(), waitedMs: waitedMs() };
  const blockedMs = now.atMs - last.atMs;
  longestMs = Math.max(longestMs, blockedMs);
  longestOwnMs = Math.max(longestOwnMs, blockedMs - (now.waitedMs - last.waitedMs));
  last = now;
}

const figures = Buffer.alloc(100);
const schedstat = opened(`/proc/self/task/${process.pid}/schedstat`);

/** The total since it began: the second figure of schedstat (the kernel's sched-stats). */
function waitedMs() {
  if (schedstat === undefined) return 0;
  const length = readSync(schedstat, figures, 0, figures.length, 0);
  return Number(figures.latin1Slice(0, length).split(' ')[1]) / 1e6;
}

function opened(path) {
  try {
    return openSync(path);
  } catch {
    return undefined;
  }
}

function watch() {
  longestMs = 0;
  longestOwnMs = 0;
  last = { atMs: performance.now(), waitedMs: waitedMs() };
  clearInterval(timer);
  timer = setInterval(look, LOOK_MS);
  timer.unref();
}

process.on('message', (message) => {
  if (message === 'watch event loop') watch();
  if (message !== 'tell event loop') return;
  look();
  clearInterval(timer);
  process.send?.({ longestMs, longestOwnMs });
});
process.channel?.unref();
