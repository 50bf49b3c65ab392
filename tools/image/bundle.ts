import { copyFileSync, cpSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';

/*
 * What the image runs: `node tools/image/bundle.ts FOLDER` writes all commands and the libraries that they use to
 * FOLDER/dist, as a few files of JavaScript. Node then reads fifty files instead of a thousand, and nothing that no command
 * uses: 13 MB of memory less than from the sources.
 */

const ROOT = join(import.meta.dirname, '../..');

/**
 * `folder`: gets `dist`, and package.json beside it; below one with node_modules, as undici is loaded as it is. Throws whatever rolldown
 * has to say, such as that something cannot be resolved. `input`: what is bundled, with all that it loads.
 */
export async function bundle(folder: string, input = join(ROOT, 'src/main.ts')): Promise<void> {
  const dist = join(folder, 'dist');
  rmSync(dist, { recursive: true, force: true });
  const build = await rolldown({
    input,
    platform: 'node',
    // The demo's tools, as our sources name them, stay out: who asks for it is told so.
    external: [/^(\.\.\/)+tools\//],
    onLog: (_level, { message }) => {
      throw new Error(message);
    },
  });
  // Comments would be kept in memory with the rest. Names and lines stay, so that a stack trace says where it was.
  await build.write({ dir: dist, chunkFileNames: '[name].js', comments: false });
  await build.close();
  cpSync(join(ROOT, 'src/simulator/page'), join(dist, 'page'), { recursive: true });
  if (folder !== ROOT) copyFileSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
}

if (process.argv[1] === import.meta.filename) {
  const [, , folder] = process.argv;
  if (folder === undefined) throw new Error('Name the folder that gets dist');
  await bundle(resolve(folder));
}
