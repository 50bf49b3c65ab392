import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import { run } from '../control-plane/run.ts';

/** A krew plugin: an archive that only needs Node, and the manifest that krew installs it with. */
export interface KrewPlugin {
  readonly archive: string;
  readonly manifest: string;
}

/**
 * Packs a built package (tools/package/build.ts) with its dependencies installed, and writes the manifest's text.
 * `uri`: where the archive will be; `version`: for example 0.1.0.
 */
export async function krewPlugin(
  packageFolder: string,
  archive: string,
  uri: string,
  version: string,
): Promise<KrewPlugin> {
  const must = async (command: string, ...args: readonly string[]) => {
    const { code, stderr } = await run(command, args, { cwd: packageFolder });
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stderr}`);
  };
  await must('npm', 'install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund');
  // Sorted by name and without times, so that the same files give the same archive.
  const same = ['--sort=name', '--mtime=2000-01-01', '--owner=0', '--group=0', '--numeric-owner'];
  await must('tar', ...same, '--create', '--gzip', '--file', archive, '.');
  const sha256 = createHash('sha256').update(readFileSync(archive)).digest('hex');
  return { archive, manifest: manifestOf({ uri, sha256, version }) };
}

/** Follows krew's plugin manifest (krew.googlecontainertools.github.com/v1alpha2). */
export function manifestOf(given: { readonly uri: string; readonly sha256: string; readonly version: string }): string {
  const { uri, sha256, version } = given;
  const platform = (os: string) => ({
    selector: { matchLabels: { os } },
    uri,
    sha256,
    bin: join('bin', 'kubectl-mooring'),
  });
  const manifest = {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'mooring' },
    spec: {
      version: `v${version}`,
      shortDescription: 'Explain and plan managed databases',
      description:
        'Shows the databases that Mooring manages as a tree, explains why one is not ready, plans changes before they are ' +
        'made, exports clusters that have no object, and runs queries.',
      caveats: 'Needs Node 22.19 or later on the PATH.',
      platforms: ['linux', 'darwin'].map(platform),
    },
  };
  return dump(manifest, { lineWidth: 120 });
}
