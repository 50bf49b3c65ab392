// npm run package: the npm package as a file, in dist/.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { run } from '../control-plane/run.ts';
import { buildPackage } from './build.ts';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));

mkdirSync(DIST, { recursive: true });
await buildPackage(`${DIST}/package`);
const { code, stdout, stderr } = await run('npm', ['pack', '--pack-destination', DIST], { cwd: `${DIST}/package` });
if (code !== 0) throw new Error(`npm pack failed: ${stderr}`);
console.log(`${DIST}/${stdout.trim()}`);
