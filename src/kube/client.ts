import { oneLine } from '../base/printable.ts';
import { HttpError, type HttpRequest, type HttpResponse, type HttpTransport, readText } from '../base/transport.ts';
import { REDACT_WINDOW, redact } from '../http/redact.ts';
import {
  type AnyObject,
  isAbsence,
  type KubeApi,
  KubeError,
  type ListOptions,
  type ObjectRef,
  type Resource,
  SECRETS,
  type WatchEvent,
} from './api.ts';
import type { KubeConnection } from './connection/connection.ts';
import { readLines } from './lines.ts';
import type { Reachability, TurnOptions } from './reachability.ts';
import { secretValues } from './secret-values.ts';
import { type Warning, warningsIn } from './warnings.ts';

export interface KubeClientOptions {
  /** The API server's URL. */
  readonly server: string;
  readonly transport: HttpTransport;
  /** Headers that authenticate. `renew` asks for fresh ones, after a 401. */
  readonly authorize: KubeConnection['authorize'];
  readonly userAgent: string;
  /** The owner of the fields that patches set; default: the operator. */
  readonly fieldManager?: string;
  /** Called when the first byte of a write is about to leave: returns why it must not; undefined if it may. */
  readonly refusal?: (resource: Resource) => string | undefined;
  /** Shared by all clients of a process for this server: reflectors take turns while it is away. Default: they do not. */
  readonly reachability?: Reachability;
  /** Called after each request with the HTTP status, or 0 if there was no answer. */
  readonly onRequest?: (request: { verb: string; resource: string; code: number }) => void;
  /** Called with each warning of the API server; of a Secret, only when that is created. */
  readonly onWarning?: (warning: Warning) => void;
}

type KubeRequest = Omit<HttpRequest, 'url'> & TurnOptions & { readonly path: string };

interface Answer {
  readonly response: HttpResponse;
  /** The header that authenticated the request, if there is one. */
  readonly sent: readonly string[];
}

const MAX_ANSWER_BYTES = 256 * 1024 * 1024;
const REQUEST_TIMEOUTS = { headersMs: 30_000, bodyMs: 30_000, totalMs: 60_000 };
/**
 * A bookmark comes about every minute if the server's database reports its progress (etcd's watch-progress-notify-interval); otherwise
 * nothing comes while nothing changes. That looks the same as a lost connection, so the caller watches again. Some proxies keep even
 * the headers back until then.
 */
const WATCH_SILENCE_MS = 130_000;

const NOT_OLDER = { resourceVersionMatch: 'NotOlderThan' };
/** metav1.InitialEventsAnnotationKey. */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** A proxy may name an hour, during which a watch would not be tried again. */
const MAX_RETRY_AFTER_S = 60;

const JSON_TYPE = 'application/json';
const MERGE_PATCH = 'application/merge-patch+json';
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const METADATA_OBJECT = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/** Yields the body until it ends, or nothing more comes. */
async function* untilSilent(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    if (!(error instanceof HttpError && error.isSilence)) throw error;
  }
}

/** What a person's commands need in addition. */
export interface KubeClient extends KubeApi {
  /**
   * Returns what server-side apply would make of the object, with defaults and after validation; nothing is stored (`dryRun=All`).
   * `manager`: who applies; undefined: this client. `force`: takes over what others have set; otherwise that is a conflict.
   * Throws KubeError if the API server refuses it.
   */
  applyDryRun(
    resource: Resource,
    object: AnyObject,
    apply: { readonly manager?: string | undefined; readonly force: boolean },
    signal?: AbortSignal,
  ): Promise<AnyObject>;
  /** The same for a JSON merge patch; unknown fields are refused. */
  patchDryRun(resource: Resource, ref: ObjectRef, patch: unknown, signal?: AbortSignal): Promise<AnyObject>;
}

/** KubeApi over HTTP. */
export function createKubeClient(options: KubeClientOptions): KubeClient {
  const server = options.server.replace(/\/$/, '');

  const { refusal, reachability, fieldManager = 'mooring' } = options;

  /** Returns the answer, and the token that it may repeat. */
  async function send(verb: string, resource: Resource, request: KubeRequest): Promise<Answer> {
    const { path, onTurn, ...rest } = request;
    if (onTurn !== undefined)
      onTurn(rest.signal === undefined || reachability === undefined || (await reachability.turn(rest.signal)));
    for (let attempt = 0; ; attempt++) {
      const authorization = await options.authorize(attempt > 0);
      let code = 0;
      try {
        const response = await options.transport({
          ...rest,
          ...(rest.method === 'GET' || refusal === undefined ? {} : { refusal: () => refusal(resource) }),
          url: server + path,
          headers: { accept: JSON_TYPE, 'user-agent': options.userAgent, ...rest.headers, ...authorization },
        });
        code = response.status;
        reachability?.reached();
        if (response.status === 401 && attempt === 0) {
          await readText(response, MAX_ANSWER_BYTES);
          continue;
        }
        const sent = [authorization['authorization'] ?? []].flat();
        // Any write of a Secret but its creation may be answered with values that are not in the request.
        const mayLeak = resource === SECRETS && verb !== 'create';
        for (const text of mayLeak ? [] : warningsIn(response.headers['warning'])) {
          const shown = resource === SECRETS ? redact(text, secretsIn(request.body)) : text;
          options.onWarning?.({ verb, resource: resource.plural, text: withoutToken(shown, response, sent) });
        }
        return { response, sent };
      } catch (error) {
        if (error instanceof HttpError && error.isUnanswered) reachability?.notReached();
        throw error;
      } finally {
        options.onRequest?.({ verb, resource: resource.plural, code });
      }
    }
  }

  async function call(verb: string, resource: Resource, request: KubeRequest) {
    const { response, sent } = await send(verb, resource, { timeouts: REQUEST_TIMEOUTS, ...request });
    const text = await readText(response, MAX_ANSWER_BYTES);
    if (response.status >= 200 && response.status < 300) return parseJson(text, verb, resource);
    const shown = resource === SECRETS ? redact(text, secretsIn(request.body)) : text;
    throw toKubeError(response, withoutToken(shown, response, sent), `Cannot ${verb} ${resource.plural}`);
  }

  return {
    async get(resource, ref, signal, getOptions) {
      try {
        const headers = { accept: getOptions?.metadataOnly ? METADATA_OBJECT : JSON_TYPE };
        return toObject(
          await call('get', resource, { method: 'GET', path: objectPath(resource, ref), headers, signal }),
        );
      } catch (error) {
        if (isAbsence(error)) return undefined;
        throw error;
      }
    },

    async list(resource, list, signal) {
      const path = collectionPath(resource, list.namespace) + listQuery(list);
      const body = await call('list', resource, {
        method: 'GET',
        path,
        headers: { accept: list.metadataOnly ? METADATA_LIST : JSON_TYPE },
        onTurn: list.onTurn,
        signal,
      });
      const metadata = asRecord(asRecord(body)['metadata']);
      const items = asRecord(body)['items'];
      // Something in front of the API server may answer 200, and an empty list would be news.
      if (typeof metadata['resourceVersion'] !== 'string') throw new HttpError('lost', 'The answer is not a list');
      return {
        items: (Array.isArray(items) ? items : []).map(toObject),
        resourceVersion: metadata['resourceVersion'],
        continueToken:
          typeof metadata['continue'] === 'string' && metadata['continue'] !== '' ? metadata['continue'] : undefined,
      };
    },

    async *watch(resource, watch, signal) {
      const query = new URLSearchParams({
        watch: 'true',
        allowWatchBookmarks: 'true',
        ...(watch.resourceVersion === undefined ? {} : { resourceVersion: watch.resourceVersion }),
        ...(watch.sendInitialEvents ? { sendInitialEvents: 'true', ...NOT_OLDER } : {}),
        timeoutSeconds: String(watch.timeoutSeconds),
        ...named(watch),
      });
      const { response, sent } = await send('watch', resource, {
        method: 'GET',
        path: `${collectionPath(resource, watch.namespace)}?${query}`,
        headers: { accept: watch.metadataOnly ? METADATA_OBJECT : JSON_TYPE },
        onTurn: watch.onTurn,
        timeouts: {
          headersMs: watch.sendInitialEvents ? REQUEST_TIMEOUTS.headersMs : WATCH_SILENCE_MS,
          bodyMs: WATCH_SILENCE_MS,
          totalMs: (watch.timeoutSeconds + 60) * 1000,
        },
        signal,
      });
      if (response.status !== 200) {
        const text = withoutToken(await readText(response, MAX_ANSWER_BYTES), response, sent);
        throw toKubeError(response, text, `Cannot watch ${resource.plural}`);
      }
      for await (const line of readLines(untilSilent(response.body)))
        yield toWatchEvent(parseJson(line, 'watch', resource), resource);
    },

    async create(resource, namespace, object, signal) {
      const path = collectionPath(resource, namespace);
      return toObject(await call('create', resource, { method: 'POST', path, ...json(object, JSON_TYPE), signal }));
    },

    async patch(resource, ref, patch, patchOptions, signal) {
      const subresource = patchOptions?.subresource === undefined ? '' : `/${patchOptions.subresource}`;
      const path = `${objectPath(resource, ref)}${subresource}?fieldManager=${fieldManager}`;
      const type = Array.isArray(patch) ? 'application/json-patch+json' : MERGE_PATCH;
      return toObject(await call('patch', resource, { method: 'PATCH', path, ...json(patch, type), signal }));
    },

    async applyDryRun(resource, object, { manager = fieldManager, force }, signal) {
      const query = new URLSearchParams({ fieldManager: manager, force: String(force), dryRun: 'All' });
      const path = `${objectPath(resource, object.metadata)}?${query}`;
      const body = json(object, 'application/apply-patch+yaml');
      return notStored(await call('apply', resource, { method: 'PATCH', path, ...body, signal }));
    },

    async patchDryRun(resource, ref, patch, signal) {
      const query = new URLSearchParams({ fieldManager, dryRun: 'All', fieldValidation: 'Strict' });
      const path = `${objectPath(resource, ref)}?${query}`;
      const body = json(patch, MERGE_PATCH);
      return notStored(await call('apply', resource, { method: 'PATCH', path, ...body, signal }));
    },

    async delete(resource, ref, preconditions, signal) {
      try {
        const body = json({ preconditions }, JSON_TYPE);
        await call('delete', resource, { method: 'DELETE', path: objectPath(resource, ref), ...body, signal });
        return true;
      } catch (error) {
        if (isAbsence(error)) return false;
        throw error;
      }
    },
  };
}

/** With one of these the API server usually refuses. It repeats no headers, and there are many such answers: a search takes time. */
const ORDINARY: ReadonlySet<number> = new Set([404, 409]);
/** How its answers begin. A page of something in front of it does not. */
const STATUS_BEGIN = '{"kind":"Status"';

/** Returns the text without the token: something in front of the API server may repeat the request in its error. */
function withoutToken(text: string, { status }: HttpResponse, sent: readonly string[]): string {
  if (ORDINARY.has(status) && text.startsWith(STATUS_BEGIN)) return text;
  const tokens = sent.map((header) => header.replace(/^(?:Bearer|Basic) /, ''));
  // A shorter one would match in every second message.
  const long = tokens.filter(({ length }) => length >= REDACT_WINDOW);
  return redact(text, long);
}

/** Returns the values in this request that a webhook may repeat when it refuses the Secret. */
function secretsIn(body: string | undefined): readonly string[] {
  const { data, stringData } = asRecord(body === undefined ? undefined : JSON.parse(body));
  const plain = Object.entries(asRecord(data)).map(
    ([key, value]) => [key, Buffer.from(String(value ?? ''), 'base64').toString('utf8')] as const,
  );
  const texts = Object.entries(asRecord(stringData)).map(([key, value]) => [key, String(value ?? '')] as const);
  return secretValues([...plain, ...texts]);
}

function json(body: unknown, contentType: string) {
  return { body: JSON.stringify(body), headers: { 'content-type': contentType } };
}

function collectionPath(resource: Resource, namespace: string | undefined): string {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${root}${scope}/${resource.plural}`;
}

function objectPath(resource: Resource, ref: ObjectRef): string {
  return `${collectionPath(resource, ref.namespace)}/${encodeURIComponent(ref.name)}`;
}

/** With this selector, a right to one name is enough. */
function named({ name }: Pick<ListOptions, 'name'>): Record<string, string> {
  return name === undefined ? {} : { fieldSelector: `metadata.name=${name}` };
}

function listQuery(options: ListOptions): string {
  const query = new URLSearchParams(named(options));
  if (options.limit !== undefined) query.set('limit', String(options.limit));
  if (options.continueToken !== undefined) query.set('continue', options.continueToken);
  else if (options.notOlderThan !== undefined) {
    query.set('resourceVersion', options.notOlderThan);
    query.set('resourceVersionMatch', NOT_OLDER.resourceVersionMatch);
  }
  return query.size === 0 ? '' : `?${query}`;
}

function parseJson(text: string, verb: string, resource: Resource): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const isPage = text.trimStart().startsWith('<');
    const what = isPage ? 'The answer is a web page: is the address that of the API server?' : 'Answer is not JSON';
    throw new HttpError('lost', `Cannot ${verb} ${resource.plural}: ${what}`, { cause: error });
  }
}

/** The parse border: the API server's answers have metadata, or they are not what was asked for. */
function toObject(value: unknown): AnyObject {
  const metadata = asRecord(asRecord(value)['metadata']);
  if (typeof metadata['name'] !== 'string' || typeof metadata['resourceVersion'] !== 'string') {
    throw new HttpError('lost', 'Answer is not a Kubernetes object');
  }
  return value as AnyObject;
}

/** An object that is not stored has no version. */
function notStored(value: unknown): AnyObject {
  const answer = asRecord(value);
  return toObject({ ...answer, metadata: { resourceVersion: '', ...asRecord(answer['metadata']) } });
}

function toWatchEvent(value: unknown, resource: Resource): WatchEvent {
  const event = asRecord(value);
  switch (event['type']) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type: event['type'], object: toObject(event['object']) };
    case 'BOOKMARK': {
      const metadata = asRecord(asRecord(event['object'])['metadata']);
      const { resourceVersion } = metadata;
      if (typeof resourceVersion !== 'string') throw new HttpError('lost', 'The bookmark has no version');
      const endsInitialEvents = asRecord(metadata['annotations'])[INITIAL_EVENTS_END] === 'true';
      return { type: 'BOOKMARK', resourceVersion, ...(endsInitialEvents ? { endsInitialEvents } : {}) };
    }
    default:
      throw statusError(asRecord(event['object']), 500, `Cannot watch ${resource.plural}`);
  }
}

function toKubeError(response: HttpResponse, text: string, what: string): KubeError {
  let status: Record<string, unknown> = {};
  try {
    status = asRecord(JSON.parse(text));
  } catch {
    status = { message: plainWords(response, text) };
  }
  return statusError(status, response.status, what, response.headers['retry-after']);
}

/** What an answer says that comes from the API server's router, or from something in front of it. */
function plainWords({ status, headers }: HttpResponse, text: string): string {
  if (status >= 300 && status <= 399) {
    const target = URL.parse(headers['location'] ?? '');
    return `the address redirects${target === null ? '' : ` to ${target.protocol}//${target.host}`}, which is not followed`;
  }
  // Of a web page, only its words.
  const words = oneLine(text.slice(0, 2_000).replaceAll(/(?:<[^<>]*>|\s)+/g, ' ')).slice(0, 200);
  return words === '404 page not found' ? 'the API server has no such resource' : words;
}

function statusError(status: Record<string, unknown>, fallback: number, what: string, retryAfter?: string): KubeError {
  const details = asRecord(status['details']);
  const given = Array.isArray(details['causes']) ? details['causes'].map(asRecord) : [];
  const causes = given.map((cause) => String(cause['reason'] ?? ''));
  const fields = given.flatMap(({ field, message }) =>
    typeof field === 'string' && field.startsWith('<') === false ? [{ field, message: String(message ?? '') }] : [],
  );
  const seconds = Number(retryAfter ?? details['retryAfterSeconds']);
  const code = typeof status['code'] === 'number' ? status['code'] : fallback;
  return new KubeError(`${what}: ${String(status['message'] ?? '') || `HTTP ${code}`}`, {
    status: code,
    reason: String(status['reason'] ?? ''),
    causes,
    fields,
    retryAfterMs: Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, MAX_RETRY_AFTER_S) * 1000 : undefined,
  });
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
