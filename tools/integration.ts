// npm run integration: Argo CD, Flux or Velero itself, built from its source, with Mooring. Not part of npm test, as the builds take long.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const USAGE = `Usage: npm run integration -- argocd|flux|velero [flags of vitest]

Builds the tool with Go, which takes some minutes the first time, and runs it with Mooring against a simulated cloud.
`;

/** Each has a folder in test/integration. */
const TOOLS = ['argocd', 'flux', 'velero'];

const [name = '', ...flags] = process.argv.slice(2);
if (!TOOLS.includes(name)) {
  const isWanted = name === '--help';
  process[isWanted ? 'stdout' : 'stderr'].write(USAGE);
  process.exit(isWanted ? 0 : 2);
}
const child = spawn(process.execPath, ['tools/bootstrap.mjs', 'vitest', 'run', '--project=integration', ...flags], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  env: { ...process.env, INTEGRATION_TOOL: name },
  stdio: 'inherit',
});
child.once('close', (code) => process.exit(code ?? 1));
