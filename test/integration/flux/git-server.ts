import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { run } from '../../../tools/control-plane/run.ts';

/** Git repositories that Flux can fetch over HTTP. */
export interface GitServer {
  /** The repository's URL. */
  url(repository: string): string;
  /** Its working tree, which exists once something has been committed. */
  tree(repository: string): string;
  /** Writes these files, removes those without a text, and commits all to `main`. Resolves to the commit's hash. */
  commit(repository: string, files: Readonly<Record<string, string | undefined>>): Promise<string>;
  close(): Promise<void>;
}

/** No one's own settings. */
const SETTINGS = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
const AUTHOR = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];

/** `folder`: an empty folder for the repositories. */
export async function startGitServer(folder: string): Promise<GitServer> {
  const server = createServer((request, response) => void serve(folder, request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const tree = (repository: string) => join(folder, repository);
  const git = async (repository: string, ...args: readonly string[]) => {
    const env = { ...process.env, ...SETTINGS };
    const { code, stdout, stderr } = await run('git', [...AUTHOR, ...args], { cwd: tree(repository), env });
    if (code !== 0) throw new Error(`git ${args[0]} failed: ${stderr}`);
    return stdout.trim();
  };
  const known = new Set<string>();
  return {
    url: (repository) => `http://127.0.0.1:${port}/${repository}/.git`,
    tree,
    commit: async (repository, files) => {
      mkdirSync(tree(repository), { recursive: true });
      if (!known.has(repository)) await git(repository, 'init', '--quiet', '--initial-branch=main');
      known.add(repository);
      for (const [name, text] of Object.entries(files)) {
        const path = join(tree(repository), name);
        mkdirSync(dirname(path), { recursive: true });
        if (text === undefined) rmSync(path, { recursive: true });
        else writeFileSync(path, text);
      }
      await git(repository, 'add', '--all');
      await git(repository, 'commit', '--quiet', '--allow-empty', '--message=Change');
      return git(repository, 'rev-parse', 'HEAD');
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Git's own CGI program answers. */
async function serve(folder: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
  const child = spawn('git', ['http-backend'], {
    env: {
      ...process.env,
      ...SETTINGS,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  request.pipe(child.stdin);
  child.stdin.on('error', () => {}); // It may answer without reading all.
  const output = Buffer.concat(await child.stdout.toArray());
  const end = output.indexOf('\r\n\r\n');
  for (const line of output.subarray(0, end).toString('latin1').split('\r\n')) {
    const [name = '', value = ''] = line.split(/: (.*)/);
    if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  response.end(output.subarray(end + 4));
}
