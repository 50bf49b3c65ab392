import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Child } from '../../bench/child.ts';
import { gcFiles, gcPauses, pausesIn } from '../../bench/measure/gc.ts';

const HOOK = new URL('../../bench/gc.mjs', import.meta.url).href;

it('pausesIn() has those that began then or later, and no part of one', () => {
  const text = '1000.0 1.500\n2000.0 0.250\n3000.0 40.125\n3500.0 1';
  expect(pausesIn(text, 2000)).toEqual([0.25, 40.125]);
  expect(pausesIn(text, 4000)).toEqual([]);
});

it('Pauses of the garbage collector are told with when they began', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gc-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const begin = Date.now();
  const code = "setInterval(() => { globalThis.gc(); console.log('collected'); }, 20)";
  const args = ['--expose-gc', `--import=${HOOK}`, '--eval', code];
  const env = { ...process.env, MOORING_BENCH_GC: gcFiles(folder) };
  const program = { name: 'node', command: process.execPath, args, env };
  const { child } = await Child.start(program, (line) => line, new AbortController().signal);
  onTestFinished(() => child.end('SIGKILL'));
  // The clocks need not agree to a millisecond.
  await vi.waitUntil(() => gcPauses(folder, child.pid, begin - 10).some((pauseMs) => pauseMs > 0));
  expect(gcPauses(folder, child.pid, Date.now() + 60_000)).toEqual([]);
});
