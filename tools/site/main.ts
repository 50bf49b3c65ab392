// npm run docs: builds the site from the documents into dist/site, or shows it on this machine.
import { join, resolve } from 'node:path';
import { argumentsOrExit } from '../arguments.ts';
import { buildSite, SiteError, serveSite } from './build.ts';

const USAGE = `Usage: npm run docs -- [options]

Builds the site from the documents.
  --output FOLDER  the folder to write (default dist/site)
  --base PATH      path of the site on its server, such as /mooring/: the page for wrong addresses needs it (default /)
  --serve          shows the documents at http://localhost:8090 instead, and again after each change
`;

const values = argumentsOrExit(
  {
    serve: { type: 'boolean', default: false },
    output: { type: 'string', default: join('dist', 'site') },
    base: { type: 'string', default: '/' },
  },
  USAGE,
);
// actions/configure-pages gives it without the slash at its end, and empty at the top.
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
