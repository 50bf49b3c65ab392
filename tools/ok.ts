// npm run ok: all static checks, one line each; a check's output is shown only if it fails.
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { run } from './control-plane/run.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const selfChecks = globSync('test/**/{tidy,generated}*.test.ts', { cwd: root });

const colors = `--colors=${process.stdout.isTTY ? 'force' : 'off'}`;
const checks = [
  { name: 'types', command: ['tsc', '--noEmit', '--project', '.'] },
  { name: 'format and lint', command: ['biome', 'ci', '--error-on-warnings', colors, '.'] },
  { name: 'generated files and house rules', command: ['vitest', 'run', '--project', 'unit', ...selfChecks] },
];

let failures = 0;
for (const { name, command } of checks) {
  const begin = performance.now();
  const { code, stdout, stderr } = await run(process.execPath, ['tools/bootstrap.mjs', ...command], { cwd: root });
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
  if (code === 0) continue;
  failures++;
  process.stdout.write(`${stdout}${stderr}`);
}
process.exitCode = failures === 0 ? 0 : 1;
