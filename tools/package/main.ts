// npm run package [URI]: builds the npm package, and krew's archive and manifest, in dist/. krew will find the archive at the URI.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { VERSION } from '../../src/version.ts';
import { run } from '../control-plane/run.ts';
import { buildPackage } from './build.ts';
import { krewPlugin } from './krew.ts';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));

mkdirSync(DIST, { recursive: true });
await buildPackage(`${DIST}/package`);
const { code, stdout, stderr } = await run('npm', ['pack', '--pack-destination', DIST], { cwd: `${DIST}/package` });
if (code !== 0) throw new Error(`npm pack failed: ${stderr}`);
console.log(`${DIST}/${stdout.trim()}`);

const [uri = `https://example.com/mooring-${VERSION}-krew.tar.gz`] = process.argv.slice(2);
const archive = `${DIST}/mooring-${VERSION}-krew.tar.gz`;
const { manifest } = await krewPlugin(`${DIST}/package`, archive, uri, VERSION);
writeFileSync(`${DIST}/krew.yaml`, manifest);
console.log(archive);
console.log(`${DIST}/krew.yaml`);
