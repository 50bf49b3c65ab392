// Loaded before the operator, in its process: how long its event loop was blocked, from the first moment until the benchmark asks, and
// from then on only while it is told to watch, as a timer each two milliseconds takes CPU. Node's own histogram, which is behind
// nodejs_eventloop_lag_max_seconds, has the time between two looks in each figure: up to ten milliseconds too much.
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import process from 'node:process';

const LOOK_MS = 2;

let timer;
let last;
/** A figure is too high by `LOOK_MS` at most. */
let longestMs;
/** The same, without the time in which the main thread had something to do, and no core to do it on. */
let longestOwnMs;

function look() {
  const now = { atMs: performance.now(), waitedMs: waitedMs() };
  const blockedMs = now.atMs - last.atMs;
  longestMs = Math.max(longestMs, blockedMs);
  longestOwnMs = Math.max(longestOwnMs, blockedMs - (now.waitedMs - last.waitedMs));
  last = now;
}

/** All in all, since it began: the second figure of schedstat, in the kernel's sched-stats. */
function waitedMs() {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
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

watch();
process.on('message', (message) => {
  if (message === 'watch event loop') watch();
  if (message !== 'tell event loop') return;
  look();
  clearInterval(timer);
  process.send?.({ longestMs, longestOwnMs });
});
process.channel?.unref();
