import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../control-plane/run.ts';

/*
 * The npm package that users install. Node runs no TypeScript below node_modules, so the sources are compiled; everything
 * else is at the same place as in the project.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Files that the compiled code reads, and files that users need besides. */
const FILES = [
  ...['LICENSE', 'THIRD-PARTY-NOTICES.md', 'README.md', 'CHANGELOG.md', 'docs', 'crds', 'deploy'],
  ...['src/simulator/admin/page'],
];
/** The first Node version that has everything the code uses. */
const [MAJOR, MINOR] = [22, 19];
const ENGINES = { node: `>=${MAJOR}.${MINOR}` };

/** Writes the package into `folder`, which it empties first. If it does not compile, throws with the compiler's messages. */
export async function buildPackage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await compile(folder);
  for (const name of FILES) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  for (const test of globSync('**/*.test.js', { cwd: folder })) rmSync(join(folder, test));
  for (const name of ['mooring', 'kubectl-mooring', 'kubectl_complete-mooring']) writeBin(folder, name);
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
}

async function compile(folder: string): Promise<void> {
  const config = join(ROOT, 'node_modules', '.package.tsconfig.json');
  const options = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      outDir: folder,
      rootDir: ROOT,
      rewriteRelativeImportExtensions: true,
      declaration: false,
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules', '@types')],
    },
    include: [join(ROOT, 'src/main.ts')],
    exclude: [],
  };
  writeFileSync(config, JSON.stringify(options));
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const { code, stdout, stderr } = await run(process.execPath, [tsc, '--project', config], { cwd: ROOT });
  rmSync(config, { force: true });
  if (code !== 0) throw new Error(`The package does not compile:\n${stdout}${stderr}`);
}

/** npm only warns of an older Node, and krew looks at none: there an import would fail, with a stack trace. */
const CHECK = `const [major, minor] = process.versions.node.split('.').map(Number);
if (major < ${MAJOR} || (major === ${MAJOR} && minor < ${MINOR})) {
  console.error(\`mooring needs Node ${MAJOR}.${MINOR} or later, this is \${process.versions.node} (\${process.execPath}): put a later one first on the PATH\`);
  process.exit(1);
}
`;

/** Exported for its test. */
export function writeBin(folder: string, name: string): void {
  const path = join(folder, 'bin', name);
  mkdirSync(dirname(path), { recursive: true });
  const before = name === 'kubectl_complete-mooring' ? "process.argv.splice(2, 0, '__complete');\n" : '';
  const text = `#!/usr/bin/env node\n${CHECK}${before}await import('../src/main.js');\n`;
  writeFileSync(path, text, { mode: 0o755 });
}

function manifest(): object {
  const {
    private: _,
    scripts: __,
    devDependencies: ___,
    allowScripts: ____,
    ...rest
  } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, unknown>;
  return { ...rest, engines: ENGINES };
}
