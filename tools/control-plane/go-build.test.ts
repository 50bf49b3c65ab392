import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeCommands } from '../../test/support/fake-commands.ts';
import { type GoModule, goBuild } from './go-build.ts';
import { type GoProgram, installedGo } from './go-command.ts';

const A: GoProgram = { name: 'a', package: 'example.com/a', version: 'v1.0.0', about: '1 s' };
const B: GoProgram = { name: 'b', package: 'example.com/b', version: 'v2.0.0', about: '2 s' };

/** Writes a binary to where -o says, as late as it can. */
const COMPILES =
  'while [ "$1" != -o ]; do shift; done; echo "binary of $3" > "$2.part"; chmod +x "$2.part"; mv "$2.part" "$2"';

let fakes: FakeCommands;
let module: GoModule;
let lines: string[];

beforeEach(() => {
  fakes = new FakeCommands();
  lines = [];
  const folder = join(fakes.folder, 'module');
  mkdirSync(folder);
  for (const file of ['go.mod', 'go.sum']) writeFileSync(join(folder, file), '');
  module = { folder, key: 'tool-v1', ldflags: '-s -w' };
});
afterEach(() => fakes.remove());

function build(programs: readonly GoProgram[], script: string, signal?: AbortSignal): Promise<string> {
  const go = installedGo(fakes.add('go', script), fakes.env);
  return goBuild(module, programs, {
    cache: join(fakes.folder, 'cache'),
    go: () => go,
    log: (line) => lines.push(line),
    signal,
  });
}

describe('goBuild()', () => {
  test('gives the compiler the tags', async () => {
    module = { ...module, tags: 'small,quick' };
    const folder = await build([A], `echo "$@" > "${join(fakes.folder, 'line')}"; ${COMPILES}`);
    expect(readdirSync(folder)).toEqual(['a']);
    expect(readFileSync(join(fakes.folder, 'line'), 'utf8')).toContain(' -tags small,quick -o ');
  });

  test('builds each program once and says what it builds and how long that takes', async () => {
    const folder = await build([A], COMPILES);
    expect(await build([A, B], COMPILES)).toBe(folder);
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('binary of example.com/a\n');
    expect(lines).toEqual([
      'Building a v1.0.0 with Go (only the first time, about 1 s)',
      'Building b v2.0.0 with Go (only the first time, about 2 s)',
    ]);
    expect(readdirSync(folder).sort()).toEqual(['a', 'b']);
  });

  test('builds again when go.mod, go.sum, a Go file, the flags or the tags change', async () => {
    const folders = new Set([await build([A], COMPILES)]);
    writeFileSync(join(module.folder, 'go.mod'), 'changed');
    folders.add(await build([A], COMPILES));
    writeFileSync(join(module.folder, 'go.sum'), 'changed');
    folders.add(await build([A], COMPILES));
    module = { ...module, ldflags: '-s' };
    folders.add(await build([A], COMPILES));
    module = { ...module, tags: 'small' };
    folders.add(await build([A], COMPILES));
    writeFileSync(join(module.folder, 'main.go'), 'package main');
    folders.add(await build([A], COMPILES));
    writeFileSync(join(module.folder, 'main.go'), 'package main // changed');
    folders.add(await build([A], COMPILES));
    expect(folders.size).toBe(7);
  });

  test('builds once for two that ask at the same time', async () => {
    const slow = `sleep 0.4; ${COMPILES}`;
    const [one, other] = await Promise.all([build([A], slow), build([A], slow)]);
    expect(one).toBe(other);
    expect(fakes.calls()).toHaveLength(1);
    expect(lines).toContain('Waiting for another process that builds the same binaries');
  });

  test('shows the compiler’s last lines when it fails, and leaves no incomplete binary', async () => {
    await expect(build([A], 'echo "go: no network" >&2; exit 1')).rejects.toThrow(
      'Cannot build a. The last lines:\n  go: no network',
    );
    expect(everyFile(join(fakes.folder, 'cache'))).toEqual([]);
  });

  test('ends the compiler and leaves nothing when it is aborted', async () => {
    const aborted = new AbortController();
    const survived = join(fakes.folder, 'survived');
    const building = build([A], `echo > ${fakes.folder}/started; sleep 30; echo > ${survived}`, aborted.signal);
    const failed = expect(building).rejects.toThrow('enough');
    await expect.poll(() => existsSync(join(fakes.folder, 'started')), { timeout: 5_000 }).toBe(true);
    aborted.abort(new Error('enough'));
    await failed;
    expect(existsSync(survived)).toBe(false);
    expect(everyFile(join(fakes.folder, 'cache'))).toEqual([]);
  });
});

function everyFile(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);
}
