import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RunResult, run } from '../control-plane/run.ts';
import { builtTool, type GoTool, type GoToolOptions } from '../go-tool.ts';

const MODULE = 'github.com/prometheus/prometheus';

function tool(name: 'prometheus' | 'promtool', about: string): GoTool {
  return {
    name,
    folder: fileURLToPath(new URL('.', import.meta.url)),
    package: `${MODULE}/cmd/${name}`,
    module: MODULE,
    // Without service discovery, which is most of Prometheus: targets are listed.
    tags: 'remove_all_sd',
    about,
  };
}

/** Runs promtool to its end; a failure is a result. `cwd`: where relative paths in its arguments and files start. */
export async function promtool(
  args: readonly string[],
  { cwd, input = '', ...options }: GoToolOptions & { readonly cwd?: string; readonly input?: string } = {},
): Promise<RunResult> {
  const command = await builtTool(tool('promtool', '2 min'), options);
  return run(command, args, { input, ...(cwd === undefined ? {} : { cwd }) });
}

export interface PrometheusOptions extends GoToolOptions {
  /** host:port of the targets, scraped once a second as job `mooring`. */
  readonly targets: readonly string[];
  /** Labels added to the targets' series. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Paths of rule files. */
  readonly rules: readonly string[];
}

export interface Prometheus {
  /** GETs a path of its HTTP API, such as `query?query=up`, and returns the answer's `data`. Throws on an error. */
  get(path: string): Promise<unknown>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

/** Starts the real Prometheus on a free port of the loopback interface; resolves when it is ready. */
export async function startPrometheus({
  targets,
  labels = {},
  rules,
  ...options
}: PrometheusOptions): Promise<Prometheus> {
  const command = await builtTool(tool('prometheus', '3 min'), options);
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: rules,
    scrape_configs: [{ job_name: 'mooring', static_configs: [{ targets, labels }] }],
  };
  // YAML parsers read JSON too.
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const child = spawn(
    command,
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      '--web.listen-address=127.0.0.1:0',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const address = await new Promise<string>((resolve, reject) => {
      let log = '';
      let found: string | undefined;
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        log += text;
        found ??= /msg="Listening on" \S*\s*address=(\S+)/.exec(log)?.[1];
        if (found !== undefined && log.includes('Server is ready to receive web requests')) resolve(found);
      });
      child.once('error', reject);
      child.once('close', () => reject(new Error(`Prometheus has ended:\n${log}`)));
    });
    return { get: (path) => get(`http://${address}/api/v1/${path}`), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function get(url: string): Promise<unknown> {
  const response = await fetch(url);
  const answer = (await response.json()) as { status: string; data?: unknown; error?: string };
  const { status, data, error } = answer;
  if (status !== 'success') throw new Error(`Prometheus refuses ${url}: ${error}`);
  return data;
}
