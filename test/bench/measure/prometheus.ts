/** One line of the Prometheus text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ([^ ]+)/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Returns the samples of these metrics. */
export function* samplesOf(text: string, names: ReadonlySet<string>): IterableIterator<Sample> {
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined || !names.has(name)) continue;
    yield {
      name,
      labels: Object.fromEntries([...labels.matchAll(LABEL)].map(([, label = '', text = '']) => [label, text])),
      value: Number(value),
    };
  }
}

/** Returns the sum over all series of a metric whose labels have these values. */
export function sumOf(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number {
  let sum = 0;
  for (const sample of samplesOf(text, new Set([name]))) {
    if (Object.entries(labels).every(([label, value]) => sample.labels[label] === value)) sum += sample.value;
  }
  return sum;
}
