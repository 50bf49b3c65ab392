import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { heapLimit } from '../../bench/pod.ts';

const DEPLOYMENT = readFileSync(new URL('../../../deploy/base/operator.yaml', import.meta.url), 'utf8');

it('heapLimit() is the share of the memory limit that the Deployment names', () => {
  const manifest = DEPLOYMENT.replace(/memory: \d+Mi/, 'memory: 300Mi').replace(/percentage=\d+/, 'percentage=50');
  expect(heapLimit(manifest)).toBe('--max-old-space-size=150');
  expect(heapLimit(DEPLOYMENT)).toMatch(/^--max-old-space-size=\d+$/);
});

it('heapLimit() refuses a Deployment without a limit: it would measure another program', () => {
  expect(() => heapLimit(DEPLOYMENT.replace(/percentage=\d+/, ''))).toThrow('does not limit');
});
