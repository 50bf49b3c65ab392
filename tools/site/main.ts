// npm run docs: builds the site from the documents into dist/site. With -- --serve it shows them instead, on this machine.
// --base=/mooring/ is where the site will be on its server: the page for wrong addresses cannot know.
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildSite, SiteError, serveSite } from './build.ts';

const { values } = parseArgs({
  options: {
    serve: { type: 'boolean', default: false },
    output: { type: 'string', default: join('dist', 'site') },
    base: { type: 'string', default: '/' },
  },
});
// As actions/configure-pages tells it: without the slash at its end, and empty at the top.
const base = values.base.replace(/\/?$/, '/');
const options = { root: process.cwd(), output: resolve(values.output), base };

try {
  if (values.serve) await serveSite(options);
  else {
    await buildSite(options);
    console.log(join(options.output, 'index.html'));
  }
} catch (error) {
  if (!(error instanceof SiteError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
