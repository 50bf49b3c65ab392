import { Writable } from 'node:stream';
import { type Logger, pino } from 'pino';
import { oneLine } from './api-error.ts';

export type Log = Logger;

/** All that most need of a log. */
export interface PlainLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** The same log, of which each line says this, too. */
export function logAbout(log: PlainLog, about: object): PlainLog {
  return {
    info: (fields, message) => log.info({ ...about, ...fields }, message),
    warn: (fields, message) => log.warn({ ...about, ...fields }, message),
  };
}

/** Keys under which a secret could stand in something that is logged whole: the last line of defence, not the first. */
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

/** JSON lines with time, level and msg, or lines for people. Errors are logged with message and stack only. */
export function createLog(options: LogOptions): Log {
  const destination = new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      options.write((options.format === 'json' ? line : pretty(line)).replace(CONTROLS, escaped));
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

/** How many Secrets there are, or the setting `--secrets=get`. A number by any other of these names may be a password. */
function isHarmless(value: unknown, path: readonly string[]): boolean {
  return path.at(-1) === 'secrets' && (typeof value === 'number' || value === 'watch' || value === 'get');
}

/** What moves a terminal's cursor or turns a line around, and JSON lets be; a line ends with a line feed, and so do those of a stack. */
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

function escaped(character: string): string {
  return character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** What others wrote may be in the message: it ends no line. */
function pretty(line: string): string {
  const { time, level, msg, kind, namespace, name, err, ...rest } = JSON.parse(line);
  const about = kind === undefined ? '' : ` ${kind} ${namespace}/${name}:`;
  const fields = Object.entries(rest);
  const more = fields
    .filter(([, value]) => !hasFields(value))
    .map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  // What has many fields, such as the configuration, takes a line for each.
  const below = fields.flatMap(([key, value]) =>
    hasFields(value)
      ? Object.entries(value).map(([field, each]) => `\n         ${key}.${field}=${JSON.stringify(each)}`)
      : [],
  );
  const error = err?.stack === undefined ? '' : `\n${err.stack}`;
  const head = `${String(time).slice(11, 19)} ${String(level).toUpperCase().padEnd(5)}${about} ${oneLine(String(msg))}`;
  return `${[head, ...more, ...below].join('')}${error}\n`;
}

function hasFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
