/** One instruction of a Dockerfile: `COPY`, with `--from=build src src`. */
export interface Instruction {
  readonly word: string;
  readonly text: string;
}

export interface Stage {
  readonly image: string;
  /** '' for the last one, which is the image. */
  readonly name: string;
  readonly instructions: readonly Instruction[];
}

export interface Dockerfile {
  /** Build arguments before the first stage, with their defaults. */
  readonly args: ReadonlyMap<string, string>;
  readonly stages: readonly Stage[];
}

/** As much of the language as ours uses; throws on anything else, so that nothing is missed. */
export function parseDockerfile(text: string): Dockerfile {
  const args = new Map<string, string>();
  const stages: { image: string; name: string; instructions: Instruction[] }[] = [];
  for (const line of text.replaceAll(/\\\n/g, ' ').split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, word = '', rest = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    if (!KNOWN.has(word)) throw new Error(`This line of the Dockerfile is not understood: ${line}`);
    if (word === 'ARG' && stages.length === 0) {
      const [name = '', value = ''] = rest.split('=');
      args.set(name, value);
    } else if (word === 'FROM') {
      const [, image = '', name = ''] = /^(\S+)(?: AS (\S+))?$/.exec(rest) ?? [];
      stages.push({
        image: image.replaceAll(/\$\{(\w+)\}/g, (_, arg: string) => args.get(arg) ?? ''),
        name,
        instructions: [],
      });
    } else stages.at(-1)?.instructions.push({ word, text: rest });
  }
  return { args, stages };
}

const KNOWN: ReadonlySet<string> = new Set([
  ...['ARG', 'FROM', 'WORKDIR', 'COPY', 'RUN', 'ENV', 'USER', 'EXPOSE', 'ENTRYPOINT', 'CMD'],
]);

/** The last value that a stage gives to an instruction; undefined: none. */
export function lastOf(stage: Stage, word: string): string | undefined {
  return stage.instructions.findLast((instruction) => instruction.word === word)?.text;
}

/** Whether a `.dockerignore` excludes the path, from the context's root: the last line that matches decides. */
export function isIgnored(dockerignore: string, path: string): boolean {
  let ignored = false;
  for (const line of dockerignore.split('\n').map((each) => each.trim())) {
    if (line === '' || line.startsWith('#')) continue;
    const isException = line.startsWith('!');
    if (fits(isException ? line.slice(1) : line, path)) ignored = !isException;
  }
  return ignored;
}

/** A pattern matches what it names and everything below it. */
function fits(pattern: string, path: string): boolean {
  const expression = pattern
    .split(/(\*\*\/|\*)/)
    .map((part) => ({ '**/': '(?:.*/)?', '*': '[^/]*' })[part] ?? part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('');
  return new RegExp(`^${expression}(?:/.*)?$`).test(path);
}
