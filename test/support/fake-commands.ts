import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder of shell scripts that stand for commands, and a record of their calls. */
export class FakeCommands {
  readonly folder = mkdtempSync(join(tmpdir(), 'fakes-'));
  readonly #bin = join(this.folder, 'bin');
  readonly #calls = join(this.folder, 'calls');

  /** An environment in which these are the only commands, besides those that every system has. */
  get env(): NodeJS.ProcessEnv {
    return { PATH: `${this.#bin}:/usr/bin/nothing`, HOME: this.folder, MOORING_CACHE: join(this.folder, 'cache') };
  }

  add(name: string, script: string): string {
    mkdirSync(this.#bin, { recursive: true });
    const path = join(this.#bin, name);
    writeFileSync(path, `#!/bin/sh\nPATH=$PATH:/usr/bin:/bin\necho "${name} $*" >> ${this.#calls}\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  }

  /** All calls so far, one per line. */
  calls(): string[] {
    try {
      return readFileSync(this.#calls, 'utf8').trimEnd().split('\n');
    } catch {
      return [];
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
