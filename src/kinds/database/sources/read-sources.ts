import type { ConfigMapContents, ConfigMaps } from '../../config-maps.ts';
import type { DatabaseSubject } from '../observation.ts';
import type { DatabaseSpec } from '../schema.ts';
import { hashOf } from './schema-digest.ts';
import type { SourceSeen } from './schema-plan.ts';

type Source = NonNullable<DatabaseSpec['schema']>[number];

/** Some editors begin a file with it. It is no part of the text, and servers refuse it, in words that show nothing. */
const BYTE_ORDER_MARK = /^\ufeff/;

/** A source with its text, for one use: never kept. */
export interface SourceText extends SourceSeen {
  readonly text: string;
}

/** Why a source cannot be read. lasting: until a person does something. */
interface SourceMissing {
  readonly lasting: boolean;
  readonly reason: string;
  readonly message: string;
}

/** Returns the sources as they are now. Reads a ConfigMap only if it is not the version whose text was last digested. */
export async function readSources(
  configMaps: ConfigMaps,
  subject: Pick<DatabaseSubject, 'metadata' | 'spec' | 'status'>,
  signal: AbortSignal,
): Promise<readonly SourceSeen[] | SourceMissing> {
  const { namespace = '' } = subject.metadata;
  const reader = new Reader(configMaps, namespace, signal);
  const seen: SourceSeen[] = [];
  for (const [position, source] of (subject.spec.schema ?? []).entries()) {
    const known = knownSource(configMaps, subject, source);
    const read = known ?? (await reader.read(source, position));
    if (!('source' in read)) return read;
    const { text: _, ...rest } = { text: '', ...read };
    seen.push(rest);
  }
  return seen;
}

/** Returns the sources at these positions, with their texts. */
export async function readTexts(
  configMaps: ConfigMaps,
  { metadata, spec }: Pick<DatabaseSubject, 'metadata' | 'spec'>,
  positions: readonly number[],
  signal: AbortSignal,
): Promise<readonly SourceText[] | SourceMissing> {
  const reader = new Reader(configMaps, metadata.namespace ?? '', signal);
  const texts: SourceText[] = [];
  for (const position of positions) {
    const source = spec.schema?.[position];
    if (source === undefined) continue;
    const read = await reader.read(source, position);
    if (!('source' in read)) return read;
    texts.push(read);
  }
  return texts;
}

/** Reports whether all sources are those last applied, in the very same versions. Makes no call. */
export function areAsApplied(
  configMaps: ConfigMaps,
  subject: Pick<DatabaseSubject, 'metadata' | 'spec' | 'status'>,
): boolean {
  const sources = subject.spec.schema ?? [];
  return areApplied(
    subject,
    sources.map((source, position) => knownSource(configMaps, subject, source) ?? inlineSource(source, position)),
  );
}

/** The same, reading those whose versions differ: somebody may have changed them back. */
export async function areTextsAsApplied(
  configMaps: ConfigMaps,
  subject: Pick<DatabaseSubject, 'metadata' | 'spec' | 'status'>,
  signal: AbortSignal,
): Promise<boolean> {
  if (areAsApplied(configMaps, subject)) return true;
  if (subject.status.appliedSchema?.length !== subject.spec.schema?.length) return false;
  const sources = await readSources(configMaps, subject, signal);
  return !('reason' in sources) && areApplied(subject, sources);
}

function areApplied(
  { status: { appliedSchema = [] } }: Pick<DatabaseSubject, 'status'>,
  sources: readonly (SourceSeen | undefined)[],
): boolean {
  return (
    sources.length === appliedSchema.length &&
    appliedSchema.every(({ source, hash }, position) => {
      const seen = sources[position];
      return seen?.source === source && seen.hash === hash;
    })
  );
}

function knownSource(
  configMaps: ConfigMaps,
  { metadata, status }: Pick<DatabaseSubject, 'metadata' | 'status'>,
  { configMapKeyRef }: Source,
): SourceSeen | undefined {
  if (configMapKeyRef === undefined) return undefined;
  const version = configMaps.version(metadata.namespace ?? '', configMapKeyRef.name);
  const name = nameOf(configMapKeyRef);
  const applied = status.appliedSchema?.find(({ source }) => source === name);
  if (version === undefined || applied?.resourceVersion !== version) return undefined;
  return { source: name, hash: applied.hash, resourceVersion: version };
}

function inlineSource({ inline }: Source, position: number): SourceText | undefined {
  if (inline === undefined) return undefined;
  const text = inline.replace(BYTE_ORDER_MARK, '');
  return { source: `inline/${position}`, hash: hashOf(text), text };
}

function nameOf({ name, key }: NonNullable<Source['configMapKeyRef']>): string {
  return `configmap/${name}/${key}`;
}

/** Reads each ConfigMap once, however many of its keys are sources. */
class Reader {
  readonly #configMaps: ConfigMaps;
  readonly #namespace: string;
  readonly #signal: AbortSignal;
  readonly #read = new Map<string, ConfigMapContents | undefined>();

  constructor(configMaps: ConfigMaps, namespace: string, signal: AbortSignal) {
    this.#configMaps = configMaps;
    this.#namespace = namespace;
    this.#signal = signal;
  }

  async read(source: Source, position: number): Promise<SourceText | SourceMissing> {
    const { configMapKeyRef: ref } = source;
    const inline = inlineSource(source, position);
    if (inline !== undefined || ref === undefined) return inline ?? neither(position);
    if (!this.#read.has(ref.name))
      this.#read.set(ref.name, await this.#configMaps.read(this.#namespace, ref.name, this.#signal));
    const configMap = this.#read.get(ref.name);
    const called = `ConfigMap "${ref.name}" in namespace "${this.#namespace}"`;
    if (configMap === undefined) {
      const message = `${called}, which schema needs, does not exist: create it with a schema query under key "${ref.key}"`;
      return { lasting: false, reason: 'ConfigMapNotFound', message };
    }
    const text = configMap.data.get(ref.key)?.replace(BYTE_ORDER_MARK, '');
    if (text === undefined || text.trim() === '') {
      const message = `${called} ${withoutText(configMap, ref.key)}, or name another key in schema`;
      return { lasting: true, reason: 'ConfigMapKeyMissing', message };
    }
    return { source: nameOf(ref), hash: hashOf(text), resourceVersion: configMap.resourceVersion, text };
  }
}

function withoutText({ data, notText }: ConfigMapContents, key: string): string {
  if (data.has(key)) return `has empty text under key "${key}": write a schema query there`;
  if (notText.has(key)) return `has bytes that are not text (UTF-8) under key "${key}": write a schema query there`;
  const keys = [...data.keys()].map((each) => `"${each}"`).join(', ') || 'none';
  return `has no text under key "${key}" (its keys: ${keys}): add it`;
}

function neither(position: number): SourceMissing {
  const message = `Schema source ${position} names neither a ConfigMap nor text: set configMapKeyRef or inline`;
  return { lasting: true, reason: 'InvalidSpec', message };
}
