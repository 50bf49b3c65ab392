import { setTimeout as sleep } from 'node:timers/promises';
import { total } from './measure/kube-requests.ts';
import type { Setting } from './setting.ts';

const LOOK_EVERY_MS = 250;
const QUIET_MS = 2_000;

/** Resolves when `check` is true. Throws after `timeoutMs`. */
export async function until(
  check: () => Promise<boolean>,
  what: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`Not within ${timeoutMs / 1000} s: ${what}`);
    await sleep(LOOK_EVERY_MS, undefined, { signal });
  }
}

/** Resolves when nothing has been written to the API server for a while. */
export async function untilQuiet({ kubeRequests, signal }: Setting): Promise<void> {
  let before = -1;
  for (let attempt = 0; attempt < 30; attempt++) {
    const now = total((await kubeRequests()).writes);
    if (now === before) return;
    before = now;
    await sleep(QUIET_MS, undefined, { signal });
  }
  throw new Error('Writes to the API server do not end');
}
