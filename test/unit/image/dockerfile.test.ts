import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isPermissive, NOTICES, renderNotices, runtimePackages } from '../../../tools/image/licences.ts';
import { isIgnored, lastOf, parseDockerfile } from '../../image/dockerfile.ts';
import { ROOT } from '../../support/readme.ts';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const dockerfile = parseDockerfile(read('Dockerfile'));
const ignore = read('.dockerignore');
const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> };
const image = dockerfile.stages.at(-1);
if (image === undefined) throw new Error('The Dockerfile has no stage');

describe('Dockerfile', () => {
  test('takes Node in the version that package.json pins', () => {
    expect(dockerfile.args.get('BUILD_IMAGE')).toMatch(new RegExp(`^node:${devDependencies['node']}-`));
  });

  test('lets both bases be replaced, and names no other', () => {
    const bases = ['BUILD_IMAGE', 'RUNTIME_IMAGE'].map((name) => dockerfile.args.get(name));
    expect(bases).not.toContain(undefined);
    expect(dockerfile.stages.filter(({ image: base }) => !bases.includes(base))).toEqual([]);
    expect(image.image).toBe(bases[1]);
  });

  test('ends with a user other than root, named by number, and with a command without a shell', () => {
    expect(lastOf(image, 'USER')).toBe('65532:65532');
    expect(JSON.parse(lastOf(image, 'ENTRYPOINT') ?? '')).toEqual([
      '/usr/local/bin/node',
      '--optimize-for-size',
      '/app/dist/main.js',
    ]);
    expect(JSON.parse(lastOf(image, 'CMD') ?? '')).toEqual(['controller']);
  });

  test('runs nothing in the stage that is shipped, as there is nothing there to run it', () => {
    expect(image.instructions.filter(({ word }) => word === 'RUN')).toEqual([]);
  });

  test('installs what package-lock.json says, in what is shipped for running only, and runs no script of a package', () => {
    const installs = dockerfile.stages
      .flatMap((stage) => stage.instructions)
      .filter(({ text }) => text.includes('npm'));
    const quietly = '--ignore-scripts --no-audit --no-fund';
    expect(installs.map(({ text }) => text)).toEqual([`npm ci ${quietly}`, `npm ci --omit=dev ${quietly}`]);
    const froms = image.instructions.map(({ text }) => /^--from=(\w+)/.exec(text)?.[1]).filter(Boolean);
    expect([...new Set(froms)]).toEqual(['libraries', 'build']);
    expect(runtimePackages().filter(({ hasInstallScript }) => hasInstallScript)).toEqual([]);
  });

  test('listens where the operator listens by default', () => {
    const ports = ['metrics-address', 'health-address'].map(
      (name) => /':(\d+)'/.exec(read('src/config.ts').split(`'${name}': {`)[1] ?? '')?.[1],
    );
    expect(lastOf(image, 'EXPOSE')).toBe(ports.join(' '));
  });
});

describe('.dockerignore', () => {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .split('\0')
    .filter((path) => path !== '');
  const sent = files.filter((path) => !isIgnored(ignore, path));

  test('lets in what the image is made of, and nothing else', () => {
    const outside = sent.filter((path) => !path.startsWith('src/'));
    expect(outside.toSorted()).toEqual([
      ...['LICENSE', NOTICES, 'package-lock.json', 'package.json', 'tools/image/bundle.ts'],
    ]);
    expect(sent).toContain('src/main.ts');
    expect(sent.filter((path) => /\.test\.ts$|\.md$/.test(path)).filter((path) => path !== NOTICES)).toEqual([]);
  });

  test.each([
    '.git/config',
    '.env',
    'node_modules/zod/package.json',
    'kubeconfig',
    'src/http/undici-transport.test.ts',
    '.mooring/x',
  ])('keeps %s out, wherever it comes from', (path) => expect(isIgnored(ignore, path)).toBe(true));

  test.each([
    ['*\n!a', 'a', false],
    ['*\n!a', 'a/b', false],
    ['*\n!a', 'ab', true],
    ['*\n!a\na/*.log', 'a/x.log', true],
    ['*\n!a\na/*.log', 'a/b/x.log', false],
    ['**/*.log', 'x.log', true],
    ['**/*.log', 'a/b/x.log', true],
    ['# a\na.b', 'aXb', false],
  ])('of %j says whether %s is kept out: %s', (text, path, ignored) => {
    expect(isIgnored(text, path)).toBe(ignored);
  });
});

describe('Licences', () => {
  test('of all that the image holds are permissive', () => {
    expect(runtimePackages().length).toBeGreaterThan(20);
    expect(runtimePackages().filter(({ licence }) => !isPermissive(licence))).toEqual([]);
  });

  test(`stand in ${NOTICES}, as tools/image/licences.ts writes it`, () => {
    expect(read(NOTICES)).toBe(renderNotices());
  });

  test.each([
    ['MIT', true],
    ['(MIT OR GPL-3.0-only)', true],
    ['MIT AND BSD-3-Clause', true],
    ['MIT AND LGPL-3.0-only', false],
    ['GPL-3.0-only', false],
    ['none', false],
    ['SEE LICENSE IN LICENSE', false],
  ])('%s: permissive is %s', (licence, permissive) => {
    expect(isPermissive(licence)).toBe(permissive);
  });
});
