import { execFileSync } from 'node:child_process';
import { cpSync, linkSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { ROOT } from '../support/readme.ts';
import { type Dockerfile, isIgnored, lastOf, parseDockerfile, type Stage } from './dockerfile.ts';
import { asRoot, jailed } from './jail.ts';

/*
 * The image's files, made as the Dockerfile says but without Docker: its stages are folders, and its commands run as they
 * stand. What the bases would bring is this machine's: Node, as package.json pins it, and the libraries that it needs.
 */

export interface Tree {
  /** Its root folder. */
  readonly root: string;
  /** As an environment has it. */
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
}

const NODE = '/usr/local/bin/node';

/** Builds the tree in the empty folder. Throws with the output of a command that fails. */
export function buildTree(folder: string): Tree {
  const dockerfile = parseDockerfile(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'));
  const image = dockerfile.stages.at(-1);
  if (image === undefined) throw new Error('The Dockerfile has no stage');
  let env: Readonly<Record<string, string>> = {};
  for (const stage of dockerfile.stages) env = buildStage(folder, stage, dockerfile);
  const command = JSON.parse(lastOf(image, 'ENTRYPOINT') ?? '[]') as readonly string[];
  return { root: rootOf(folder, image.name), env, command };
}

function rootOf(folder: string, stage: string): string {
  return join(folder, stage === '' ? 'image' : stage);
}

function buildStage(folder: string, stage: Stage, { args }: Dockerfile): Readonly<Record<string, string>> {
  const root = rootOf(folder, stage.name);
  const env: Record<string, string> = {};
  let workdir = '/';
  let user = '0';
  layBase(root, stage.image === args.get('BUILD_IMAGE'));
  for (const { word, text } of stage.instructions) {
    if (word === 'WORKDIR') {
      workdir = text;
      mkdirSync(join(root, workdir), { recursive: true });
    } else if (word === 'USER') user = text;
    else if (word === 'ENV') for (const [, key = '', value = ''] of text.matchAll(/(\w+)=(\S+)/g)) env[key] = value;
    else if (word === 'COPY') copy(folder, root, workdir, text);
    else if (word === 'RUN') runIn(root, workdir, user, env, text);
  }
  return env;
}

/** What a base image provides: for the one that builds, Node; for both, the libraries, except those that only the first has. */
function layBase(root: string, builds: boolean): void {
  for (const name of ['proc', 'dev', 'tmp', 'etc', 'usr/lib', 'usr/local/bin'])
    mkdirSync(join(root, name), { recursive: true });
  const node = realpathSync(process.execPath);
  if (builds) linkOrCopy(node, join(root, NODE));
  for (const library of librariesOf(node)) {
    if (!builds && BUILD_ONLY.test(library)) continue;
    mkdirSync(dirname(join(root, library)), { recursive: true });
    cpSync(realpathSync(library), join(root, library));
  }
}

/** In the image that builds, but not in the one that runs: gcr.io/distroless/cc has glibc, libstdc++ and libgcc. */
const BUILD_ONLY = /libatomic/;

function librariesOf(program: string): readonly string[] {
  const output = execFileSync('ldd', [program], { encoding: 'utf8' });
  return [...output.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path);
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    cpSync(from, to); // Another file system.
  }
}

function copy(folder: string, root: string, workdir: string, text: string): void {
  const words = text.split(' ');
  const from = /^--from=(.+)$/.exec(words[0] ?? '')?.[1];
  const sources = words.slice(from === undefined ? 0 : 1, -1);
  const target = resolve(workdir, words.at(-1) ?? '');
  const into = (words.at(-1) ?? '').endsWith('/') || sources.length > 1;
  const ignore = readFileSync(join(ROOT, '.dockerignore'), 'utf8');
  for (const source of sources) {
    const path = from === undefined ? join(ROOT, source) : join(rootOf(folder, from), source);
    const isFolder = statSync(path).isDirectory();
    const to = join(root, target, into && !isFolder ? basename(source) : '');
    mkdirSync(dirname(to), { recursive: true });
    const filter = (file: string) => from !== undefined || file === path || !isIgnored(ignore, relative(ROOT, file));
    if (!isFolder && from !== undefined) linkOrCopy(path, to);
    else cpSync(path, to, { recursive: true, filter });
  }
}

/** Commands of a shell run on this machine, in the folder; others only in the stage, as the user that is named. */
function runIn(root: string, workdir: string, user: string, env: Readonly<Record<string, string>>, text: string): void {
  if (!text.startsWith('[')) {
    const { PATH = '', HOME = '' } = process.env;
    // With npm the pinned packages come first on the path; the image's npm is its own, and runs with its Node.
    const others = PATH.split(':').filter((entry) => !entry.includes('node_modules'));
    const path = [join(root, dirname(NODE)), ...others, '/usr/sbin', '/sbin'].join(':');
    run(
      asRoot(['sh', '-ec', text]),
      { ...env, PATH: path, HOME, npm_config_prefer_offline: 'true' },
      join(root, workdir),
    );
  } else if (user === '0') throw new Error(`RUN ${text} is not understood: it would run as root`);
  else run(jailed({ root, readOnly: false }, JSON.parse(text) as readonly string[]), env, '/');
}

function run([command = '', ...args]: readonly string[], env: Readonly<Record<string, string>>, cwd: string): void {
  execFileSync(command, args, { cwd, env: { PATH: process.env['PATH'], ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** The size in bytes of all files below the folder. */
export function sizeOf(folder: string): number {
  const kilobytes = execFileSync('du', ['-sk', folder], { encoding: 'utf8' });
  return Number(kilobytes.split('\t')[0]) * 1024;
}
