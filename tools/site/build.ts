import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type Configuration, Eleventy } from '@11ty/eleventy';
import { renderDocument, renderFolder, renderSource } from './content.ts';
import { pageOf, placeOf } from './links.ts';
import { ASSETS, NOT_FOUND, renderNotFound, renderPage, SEARCH_INDEX } from './page.ts';
import { type Repository, readRepository } from './repository.ts';
import { renderSearchIndex, searchLibrary } from './search.ts';
import { readSite, type Site } from './site.ts';

/** Why the site cannot be built, one reason per line. */
export class SiteError extends Error {
  override readonly name = 'SiteError';
}

export interface SiteOptions {
  /** The top folder of the checkout, which is also the working directory. */
  readonly root: string;
  /** Absent, empty, or a previously built site, which is replaced as a whole. */
  readonly output: string;
  /** Where the site will be on its server, with slashes at both ends. Only the page for wrong addresses needs it. */
  readonly base: string;
}

/**
 * Writes the site.
 *
 * @throws SiteError if a link leads nowhere, a heading does not exist, a page is not in the menu, or the output folder holds
 *   something else; nothing is written then.
 */
export async function buildSite(options: SiteOptions): Promise<void> {
  const eleventy = prepare(options, 'build');
  await eleventy.init();
  await eleventy.write();
}

/** Shows the site on this machine and updates it after each change of a document, until the process ends. Throws as `buildSite` does. */
export async function serveSite(options: SiteOptions): Promise<void> {
  const eleventy = prepare(options, 'serve');
  await eleventy.init();
  await eleventy.watch();
  await eleventy.serve(PORT);
}

const PORT = 8090;
const ASSETS_FOLDER = join(import.meta.dirname, 'assets');
/** A file extension of our own, for pages that are not made from Markdown. */
const SHOWN = 'shown';

function prepare({ root, output, base }: SiteOptions, runMode: 'build' | 'serve'): Eleventy {
  const repository = readRepository(root);
  let site = checked(readSite(repository));
  clear(output);
  // The development server adds its own script to each page.
  const policy = runMode === 'build';
  const config = (eleventy: Configuration) => {
    eleventy.setTemplateFormats(['md', SHOWN]);
    for (const path of repository.paths)
      if (path.endsWith('.md') && !site.documents.has(path)) eleventy.ignores.add(path);
    // No template language reads the documents: braces are just braces.
    eleventy.addExtension('md', {
      outputFileExtension: 'html',
      compile: (text, inputPath) => () => {
        const path = pathOf(inputPath);
        const document = site.documents.get(path);
        const [page, title] = [pageOf('document', path), document?.title ?? path];
        return renderPage(site, { page, title, content: renderDocument(repository, path, text), document }, { policy });
      },
    });
    eleventy.addExtension(SHOWN, { outputFileExtension: 'html', compile: (text) => () => text });
    eleventy.addGlobalData('permalink', () => permalink);
    for (const { page, title, content } of shownPages(site, repository))
      eleventy.addTemplate(`${page}.${SHOWN}`, renderPage(site, { page, title, content }, { policy }), { place: page });
    eleventy.setServerOptions({ middleware: [onlyFromHere] });
    eleventy.on('eleventy.before', () => {
      if (runMode === 'serve') site = readSite(readRepository(root));
      for (const problem of site.problems) console.error(problem);
    });
    eleventy.on('eleventy.after', () => {
      copyFiles(site, root, output);
      writeFileSync(join(output, NOT_FOUND), renderNotFound(site, base));
    });
  };
  return new Eleventy('.', output, { configPath: null, quietMode: true, runMode, config });
}

/** What Eleventy knows of a page; `place` is set for pages without a file. */
interface PageData {
  readonly page: { readonly inputPath: string };
  readonly place?: string;
}

const pathOf = (inputPath: string) => inputPath.replace(/^\.\//, '');
const permalink = ({ page, place }: PageData) => place ?? pageOf('document', pathOf(page.inputPath));

/** The development server listens on every address, but unpublished pages are only for their author. */
function onlyFromHere({ socket }: IncomingMessage, response: ServerResponse, next: () => void): void {
  if (/^(?:::1|(?:::ffff:)?127\..*)$/.test(socket.remoteAddress ?? '')) next();
  else response.writeHead(403).end();
}

/** Makes room for the site. A folder that holds something else was named by mistake. */
function clear(output: string): void {
  const isEmpty = !existsSync(output) || readdirSync(output).length === 0;
  if (!isEmpty && !existsSync(join(output, SEARCH_INDEX)))
    throw new SiteError(`${output} holds something other than a site: name another folder`);
  rmSync(output, { recursive: true, force: true });
}

function checked(site: Site): Site {
  if (site.problems.length > 0) throw new SiteError(site.problems.join('\n'));
  return site;
}

/** Pages for the files and folders that the documents link to. */
function shownPages({ sources, folders }: Site, repository: Repository) {
  return [
    ...[...sources].map((path) => ({
      page: pageOf('source', path),
      title: path,
      content: renderSource(repository, path),
    })),
    ...[...folders].map((path) => ({
      page: pageOf('folder', path),
      title: path,
      content: renderFolder(repository, path),
    })),
  ];
}

function copyFiles(site: Site, root: string, output: string): void {
  for (const path of [...site.images, ...site.sources]) cpSync(join(root, path), join(output, placeOf(path)));
  cpSync(ASSETS_FOLDER, join(output, 'assets'), { recursive: true });
  writeFileSync(join(output, ASSETS.library), searchLibrary());
  writeFileSync(join(output, SEARCH_INDEX), renderSearchIndex(site));
}
