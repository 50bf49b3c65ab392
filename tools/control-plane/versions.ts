import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of the Go module that pins the binaries. */
export const MODULE_FOLDER = fileURLToPath(new URL('.', import.meta.url));

export interface Versions {
  readonly kubernetes: string;
  readonly etcd: string;
  /** The language version that the module needs, as in "1.26". */
  readonly go: string;
}

/** What go.mod pins: the one place where these versions stand. */
export function readVersions(goMod: string): Versions {
  return {
    kubernetes: capture(goMod, /^\s*k8s\.io\/kubernetes (v\S+)/m, 'k8s.io/kubernetes'),
    etcd: capture(goMod, /^\s*go\.etcd\.io\/etcd\/server\/v3 (v\S+)/m, 'go.etcd.io/etcd/server/v3'),
    go: capture(goMod, /^go (\d+\.\d+)/m, 'go'),
  };
}

export function moduleText(file: 'go.mod' | 'go.sum'): string {
  return readFileSync(`${MODULE_FOLDER}/${file}`, 'utf8');
}

function capture(text: string, pattern: RegExp, what: string): string {
  const version = pattern.exec(text)?.[1];
  if (version === undefined) throw new Error(`Cannot read the control plane's go.mod: it does not name ${what}`);
  return version;
}
