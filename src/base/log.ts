import { Writable } from 'node:stream';
import { type Logger, pino } from 'pino';
import { isRecord } from './is-record.ts';
import { oneLine, printableCell } from './printable.ts';

export type Log = Logger;

/** All that most callers need of a log. */
export interface PlainLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** The same log, with these fields in each line. */
export function logAbout(log: PlainLog, about: object): PlainLog {
  return {
    info: (fields, message) => log.info({ ...about, ...fields }, message),
    warn: (fields, message) => log.warn({ ...about, ...fields }, message),
  };
}

/** Keys under which a secret could be in something that is logged whole: the last line of defence, not the first. */
const SECRET_KEYS: ReadonlySet<string> = new Set([
  'password',
  'nextPassword',
  'clientSecret',
  'token',
  'authorization',
  'data',
  'stringData',
  'secrets',
]);

export interface LogOptions {
  readonly level: string;
  readonly format: 'json' | 'pretty';
  readonly write: (line: string) => void;
}

/** Logs JSON lines with time, level and msg, or lines for people. Errors are logged with message and stack only. */
export function createLog(options: LogOptions): Log {
  const destination = new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      const written = options.format === 'json' ? line : pretty(line);
      // A line ends with a line feed, and so do those of a stack.
      options.write(written.split('\n').map(printableCell).join('\n'));
      done();
    },
  });
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // pino's own redaction takes 23 µs and 100 KB of garbage for a line, this 4 µs and 4 KB, and looks no deeper than its paths say.
      formatters: { level: (label) => ({ level: label }), log: (fields) => withoutSecrets(fields, DEEPEST) },
      serializers: {
        err: (error: unknown) =>
          error instanceof Error ? { type: error.name, message: error.message, stack: error.stack } : String(error),
      },
    },
    destination,
  );
}

/** What is deeper, or in itself, is left out. */
const DEEPEST = 10;

function withoutSecrets(fields: object, depth: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, isSecret(key, value) ? '[redacted]' : shown(value, depth)]),
  );
}

function shown(value: unknown, depth: number): unknown {
  // What an error shows, its serializer decides.
  if (typeof value !== 'object' || value === null || value instanceof Error) return value;
  if (depth === 0) return '[too deep]';
  if ('toJSON' in value && typeof value.toJSON === 'function') return shown(value.toJSON(), depth - 1);
  return Array.isArray(value) ? value.map((each) => shown(each, depth - 1)) : withoutSecrets(value, depth - 1);
}

/** `secrets` may also be the number of Secrets, or the setting `--secrets=get`. A number under any other name may be a password. */
function isSecret(key: string, value: unknown): boolean {
  const isHarmless = key === 'secrets' && (typeof value === 'number' || value === 'watch' || value === 'get');
  return SECRET_KEYS.has(key) && !isHarmless;
}

/** The message may contain what others wrote, which must not end the line. */
function pretty(line: string): string {
  const { time, level, msg, kind, namespace, name, err, ...rest } = JSON.parse(line);
  const about = kind === undefined ? '' : ` ${kind} ${namespace}/${name}:`;
  const fields = Object.entries(rest);
  const more = fields.filter(([, value]) => !isRecord(value)).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  // A value with many fields, such as the configuration, gets a line for each.
  const below = fields.flatMap(([key, value]) =>
    isRecord(value)
      ? Object.entries(value).map(([field, each]) => `\n         ${key}.${field}=${JSON.stringify(each)}`)
      : [],
  );
  const error = err?.stack === undefined ? '' : `\n${err.stack}`;
  const head = `${String(time).slice(11, 19)} ${String(level).toUpperCase().padEnd(5)}${about} ${oneLine(String(msg))}`;
  return `${[head, ...more, ...below].join('')}${error}\n`;
}
