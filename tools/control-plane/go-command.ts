import type { CommandLine } from './guard-messages.ts';
import { findOnPath } from './run.ts';

export interface GoProgram {
  /** The binary's name. */
  readonly name: string;
  readonly package: string;
  readonly version: string;
  /** How long the first build takes on a small machine, shown to people who wait: "3 min". */
  readonly about: string;
}

export interface GoBuildRequest {
  readonly module: string;
  /** A folder for temporary files, removed afterwards. */
  readonly scratch: string;
  readonly ldflags: string;
  readonly tags?: string | undefined;
  readonly output: string;
  readonly program: GoProgram;
}

export interface GoBuildLine extends CommandLine {
  readonly cwd: string;
  /** Must be run when the build ends, however it ends. */
  readonly atEnd?: CommandLine;
}

/** A way to run the Go compiler. */
export interface GoCommand {
  readonly name: string;
  build(request: GoBuildRequest): GoBuildLine;
}

/** Pure Go, so that no C compiler is needed and the result runs anywhere; the user's workspace is ignored. */
const SETTINGS = { CGO_ENABLED: '0', GOWORK: 'off' };

/** Otherwise the compiler's garbage collector takes a sixth of the time; few of its processes need much memory. */
const UNLESS_SET = { GOGC: '400' };

/** `-s -w` would drop this anyway. Not compiling it takes an eighth less time; the program is the same. */
const NO_DEBUGGING = ['-gcflags', 'all=-dwarf=false'];

function buildArguments({ ldflags, tags, program }: GoBuildRequest, output: string): string[] {
  const flags = ['-trimpath', '-buildvcs=false', '-mod=readonly', ...NO_DEBUGGING, '-ldflags', ldflags];
  if (tags !== undefined) flags.push('-tags', tags);
  return ['build', ...flags, '-o', output, program.package];
}

/** Go itself, or else Go of that version (such as "1.26") in Docker, if Docker's path is given. */
export function findGo(env: NodeJS.ProcessEnv, docker: string | undefined, version: string): GoCommand | undefined {
  const go = findOnPath('go', env['PATH']);
  if (go !== undefined) return installedGo(go, env);
  return docker === undefined ? undefined : goInDocker(docker, env, version);
}

/** Throws `complaint` only once Go is needed and missing. */
export function mustHaveGo(go: GoCommand | undefined, complaint: string): () => GoCommand {
  return () => {
    if (!go) throw new Error(complaint);
    return go;
  };
}

/** The user's Go, with the user's settings for proxies and caches. */
export function installedGo(go: string, env: NodeJS.ProcessEnv): GoCommand {
  return {
    name: 'Go',
    build: (request) => ({
      command: go,
      args: buildArguments(request, request.output),
      env: { ...UNLESS_SET, ...env, ...SETTINGS, GOTMPDIR: request.scratch },
      cwd: request.module,
    }),
  };
}

const PLATFORMS: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'darwin' };
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Go in its official image, for a machine with Docker but no Go. Downloads are kept in a volume. */
function goInDocker(docker: string, env: NodeJS.ProcessEnv, version: string): GoCommand {
  return {
    name: 'Go in Docker',
    build: (request) => {
      const container = `mooring-go-${process.pid}-${request.program.name}`;
      const owner = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
      const settings = {
        ...UNLESS_SET,
        ...SETTINGS,
        GOOS: PLATFORMS[process.platform] ?? process.platform,
        GOARCH: ARCHITECTURES[process.arch] ?? process.arch,
      };
      const output = `/out/${request.program.name}`;
      const goLine = ['go', ...buildArguments(request, output)].map(quote).join(' ');
      return {
        command: docker,
        args: [
          ...['run', '--rm', '--name', container],
          ...['--volume', `${request.module}:/module:ro`, '--workdir', '/module'],
          ...['--volume', `${request.scratch}:/out`],
          ...['--volume', 'mooring-go-modules:/go/pkg/mod', '--volume', 'mooring-go-build:/root/.cache/go-build'],
          ...Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
          `golang:${version}`,
          ...['sh', '-c', `${goLine} && chown ${owner} ${output}`],
        ],
        env,
        cwd: request.scratch,
        // Ending the client does not end the container.
        atEnd: { command: docker, args: ['rm', '--force', container], env },
      };
    },
  };
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
