import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Child } from '../../bench/child.ts';
import { canLookAtProcesses } from '../../bench/measure/process.ts';
import type { EventLoop } from '../../bench/operator.ts';

const HOOK = new URL('../../bench/event-loop.mjs', import.meta.url).href;
const BLOCK_MS = 500;

/** Runs `code`, and resolves when it has printed something. Its event loop is watched from then on. */
async function watched(code: string) {
  const command = { name: 'node', command: process.execPath, args: [`--import=${HOOK}`, '--eval', code] };
  const { child } = await Child.start(command, (line) => line, new AbortController().signal);
  onTestFinished(() => child.end('SIGKILL'));
  child.say('watch event loop');
  return { child, blocks: async () => (await child.ask('tell event loop')) as EventLoop };
}

it('The longest block of an event loop is told once', async () => {
  const sleeps = `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${BLOCK_MS})`;
  const sleepsOnce = `process.once('message', () => setTimeout(() => { ${sleeps}; console.log(2) }, 10))`;
  const { child, blocks } = await watched(`console.log(1); ${sleepsOnce}; setInterval(() => {}, 1000)`);
  await vi.waitUntil(() => child.lastWords.includes('2'));
  const { longestMs, longestOwnMs } = await blocks();
  expect(longestMs).toBeGreaterThanOrEqual(BLOCK_MS);
  // Who sleeps does not wait for a core, but when it wakes up.
  expect(longestOwnMs).toBeGreaterThanOrEqual(BLOCK_MS - 1);
  child.say('watch event loop');
  expect((await blocks()).longestMs).toBeLessThan(BLOCK_MS);
});

it.runIf(canLookAtProcesses)('Time without a core is told apart', { timeout: 60_000 }, async () => {
  const busy = Array.from({ length: availableParallelism() * 4 }, () => spawn('sh', ['-c', 'while :; do :; done']));
  onTestFinished(() => {
    for (const child of busy) child.kill('SIGKILL');
  });
  const { child, blocks } = await watched('console.log(1); setInterval(() => { for (let i = 0; i < 2e6; i++); }, 1)');
  // Each window is long enough for others to have their turn.
  const isTold = async () => {
    child.say('watch event loop');
    await sleep(500);
    const { longestMs, longestOwnMs } = await blocks();
    return longestOwnMs + 1 < longestMs;
  };
  await vi.waitUntil(isTold, { timeout: 50_000 });
});

it('A process that ends owes no answer', async () => {
  const { child, blocks } = await watched('console.log(1); setInterval(() => {}, 1000)');
  const asked = blocks();
  await child.end('SIGKILL');
  await Promise.allSettled([asked]);
  await expect(blocks()).rejects.toThrow('ended');
});
