import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of the Go module that pins the binaries. */
export const MODULE_FOLDER = fileURLToPath(new URL('.', import.meta.url));

export interface Versions {
  readonly kubernetes: string;
  readonly etcd: string;
  /** The Go version that the module needs, such as "1.26". */
  readonly go: string;
}

/** The versions that go.mod pins, the only place that has them. */
export function readVersions(goMod: string): Versions {
  return {
    kubernetes: requiredVersion(goMod, 'k8s.io/kubernetes'),
    etcd: requiredVersion(goMod, 'go.etcd.io/etcd/server/v3'),
    go: capture(goMod, /^go (\d+\.\d+)/m, 'go'),
  };
}

export function moduleText(file: 'go.mod' | 'go.sum'): string {
  return readFileSync(`${MODULE_FOLDER}/${file}`, 'utf8');
}

/** The version that a go.mod requires of one module. */
export function requiredVersion(goMod: string, module: string): string {
  const pattern = new RegExp(`^(?:require)?\\s+${module.replaceAll('.', '\\.')} (v\\S+)`, 'm');
  return capture(goMod, pattern, module);
}

function capture(text: string, pattern: RegExp, what: string): string {
  const version = pattern.exec(text)?.[1];
  if (version === undefined) throw new Error(`Cannot read go.mod: it does not name ${what}`);
  return version;
}
