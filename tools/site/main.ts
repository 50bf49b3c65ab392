// npm run docs: builds the site from the documents into dist/site, or shows them on this machine.
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildSite, SiteError, serveSite } from './build.ts';

const USAGE = `Usage: npm run docs -- [options]

Builds the site from the documents.
  --output FOLDER  where to (default dist/site)
  --base PATH      where the site will be on its server, such as /mooring/: the page for wrong addresses cannot know (default /)
  --serve          shows the documents at http://localhost:8090 instead, anew after each change
`;

const values = argumentsOrExit();
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

function argumentsOrExit(): { readonly serve: boolean; readonly output: string; readonly base: string } {
  try {
    const { values } = parseArgs({
      options: {
        serve: { type: 'boolean', default: false },
        output: { type: 'string', default: join('dist', 'site') },
        base: { type: 'string', default: '/' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help !== true) return values;
    process.stdout.write(USAGE);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    process.exit(2);
  }
  return process.exit(0);
}
