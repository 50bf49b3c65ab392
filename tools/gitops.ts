// npm run gitops: Argo CD, Flux or Velero itself, built from its source, with Mooring. Not part of npm test, as the builds take long.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const USAGE = `Usage: npm run gitops -- argocd|flux|velero [flags of vitest]

Builds the tool with Go, which takes some minutes the first time, and runs it with Mooring against a simulated cloud.
`;

/** The folder in test/gitops of each tool. */
const FOLDERS = new Map([
  ['argocd', 'argocd-live'],
  ['flux', 'flux'],
  ['velero', 'velero'],
]);

const [name = '', ...flags] = process.argv.slice(2);
const folder = FOLDERS.get(name);
if (folder === undefined) {
  const isWanted = name === '--help';
  process[isWanted ? 'stdout' : 'stderr'].write(USAGE);
  process.exit(isWanted ? 0 : 2);
}
const child = spawn(process.execPath, ['tools/bootstrap.mjs', 'vitest', 'run', '--project=gitops', ...flags], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  env: { ...process.env, GITOPS_TOOL_FOLDER: folder },
  stdio: 'inherit',
});
child.once('close', (code) => process.exit(code ?? 1));
