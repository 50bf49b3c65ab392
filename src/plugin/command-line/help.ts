/** The width of a narrow window. */
const WIDTH = 100;

/** Lists names for `--help`, each with its description beside it on as many lines as that needs. */
export function helpRows(rows: readonly (readonly [name: string, about: string])[]): string {
  const column = Math.max(...rows.map(([name]) => name.length)) + 4;
  return rows
    .map(([name, about]) => {
      const [first = '', ...more] = wrapped(about, WIDTH - column);
      return [`  ${name}`.padEnd(column) + first, ...more.map((line) => ' '.repeat(column) + line)]
        .map((line) => line.trimEnd())
        .join('\n');
    })
    .join('\n');
}

/** Breaks the text into lines between words. */
export function wrapped(text: string, width = WIDTH): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
