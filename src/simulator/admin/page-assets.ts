import { readFileSync } from 'node:fs';

/** The page's style and script, served as files: its content security policy allows nothing inline and nothing foreign. */
export const PAGE_STYLE = readFileSync(new URL('page/style.css', import.meta.url), 'utf8');
export const PAGE_SCRIPT = readFileSync(new URL('page/script.js', import.meta.url), 'utf8');
