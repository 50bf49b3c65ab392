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
const SECRET_KEYS = [
  'password',
  'nextPassword',
  'clientSecret',
  'token',
  'authorization',
  'data',
  'stringData',
  'secrets',
];
const PATHS = SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`, `*.*.*.${key}`]);

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
      formatters: { level: (label) => ({ level: label }) },
      serializers: {
        err: (error: unknown) =>
          error instanceof Error ? { type: error.name, message: error.message, stack: error.stack } : String(error),
      },
      redact: { paths: PATHS, censor: (value, path) => (isHarmless(value, path) ? value : '[redacted]') },
    },
    destination,
  );
}

/** The number of Secrets, or the setting `--secrets=get`. A number under any other of these names may be a password. */
function isHarmless(value: unknown, path: readonly string[]): boolean {
  return path.at(-1) === 'secrets' && (typeof value === 'number' || value === 'watch' || value === 'get');
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
