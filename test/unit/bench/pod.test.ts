import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { imageEnvironment, imageFlags, nodeOptions } from '../../bench/pod.ts';

const DEPLOYMENT = readFileSync(new URL('../../../deploy/base/operator.yaml', import.meta.url), 'utf8');

const DOCKERFILE = readFileSync(new URL('../../../Dockerfile', import.meta.url), 'utf8');

it('nodeOptions() has the share of the memory limit that the Deployment names, and all else that it says', () => {
  const manifest = DEPLOYMENT.replace(/memory: \d+Mi/, 'memory: 300Mi').replace(/percentage=\d+/, 'percentage=50');
  expect(nodeOptions(manifest)).toBe('--max-old-space-size=150');
  expect(nodeOptions(DEPLOYMENT)).toMatch(/^--max-old-space-size=\d+$/);
});

it('nodeOptions() refuses a Deployment without a limit: it would measure another program', () => {
  expect(() => nodeOptions(DEPLOYMENT.replace(/percentage=\d+/, ''))).toThrow('does not limit');
});

it('imageEnvironment() and imageFlags() are those of the stage that becomes the image', () => {
  expect(imageEnvironment(DOCKERFILE)).toEqual({
    UV_THREADPOOL_SIZE: '64',
    NODE_ENV: 'production',
    NODE_COMPILE_CACHE: '/app/compile-cache',
    MALLOC_ARENA_MAX: '2',
    MALLOC_MMAP_THRESHOLD_: '32768',
    MALLOC_TRIM_THRESHOLD_: '65536',
  });
  expect(imageFlags(DOCKERFILE)).toEqual(['--optimize-for-size']);
  expect(() => imageEnvironment('FROM a\nENV X=1\nFROM b\n')).toThrow('no ENV');
  expect(() => imageFlags('FROM a\n')).toThrow('no ENTRYPOINT');
});
