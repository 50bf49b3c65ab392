import type { ObjectMeta } from './object.ts';
import type { TurnOptions } from './reachability.ts';

/** A collection of the Kubernetes API. */
export interface Resource {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
}

export const SECRETS: Resource = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret' };
export const CONFIG_MAPS: Resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap' };
export const NAMESPACES: Resource = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace' };
export const EVENTS: Resource = { group: 'events.k8s.io', version: 'v1', plural: 'events', kind: 'Event' };

/** Anything with metadata. Whatever else an object holds, its reader must check; most have a spec and a status. */
export interface AnyObject {
  readonly metadata: ObjectMeta;
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** `namespace` undefined: in all namespaces, or cluster-scoped. */
export interface ObjectRef {
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface ListOptions extends TurnOptions {
  readonly namespace?: string | undefined;
  /** Only objects with this name: at most one per namespace. */
  readonly name?: string | undefined;
  /** Objects per page. Absent: all in one answer. */
  readonly limit?: number | undefined;
  readonly continueToken?: string | undefined;
  /** Asks for an answer at least as new as this version (resourceVersionMatch=NotOlderThan). */
  readonly notOlderThan?: string | undefined;
  /** Only metadata (PartialObjectMetadata): contents never reach this process. */
  readonly metadataOnly?: boolean | undefined;
}

export interface ListPage {
  readonly items: readonly AnyObject[];
  readonly resourceVersion: string;
  readonly continueToken: string | undefined;
}

export interface WatchOptions extends TurnOptions {
  readonly namespace?: string | undefined;
  /** Only objects with this name: at most one per namespace. */
  readonly name?: string | undefined;
  /** The watch reports what came after it. With `sendInitialEvents`: no older than it, or, if undefined, no older than the request. */
  readonly resourceVersion: string | undefined;
  /**
   * First reports everything there is as added, with changes meanwhile, until a bookmark with `endsInitialEvents`. Invalid (422) if the
   * server cannot do that (streaming lists, by default since Kubernetes 1.34).
   */
  readonly sendInitialEvents?: boolean | undefined;
  readonly timeoutSeconds: number;
  readonly metadataOnly?: boolean | undefined;
}

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: AnyObject }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly endsInitialEvents?: true };

/** A part of a JSON Patch (RFC 6902), as far as it is used. */
export interface PatchOperation {
  readonly op: 'test' | 'add';
  readonly path: string;
  readonly value: unknown;
}

/**
 * The Kubernetes API as this operator uses it: the seam for simulation. All methods throw `KubeError` for an answer that is not a
 * success, and `HttpError` if there was no answer. An ERROR event of a watch is thrown as the KubeError it holds.
 */
export interface KubeApi {
  /** Returns undefined if there is none. */
  get(
    resource: Resource,
    ref: ObjectRef,
    signal?: AbortSignal,
    options?: { readonly metadataOnly?: boolean },
  ): Promise<AnyObject | undefined>;
  list(resource: Resource, options: ListOptions, signal?: AbortSignal): Promise<ListPage>;
  /** Ends without an error when the server closes the watch or has sent nothing for minutes. */
  watch(resource: Resource, options: WatchOptions, signal?: AbortSignal): AsyncIterable<WatchEvent>;
  /** A second call with the same name throws AlreadyExists (409). */
  create(resource: Resource, namespace: string, object: unknown, signal?: AbortSignal): Promise<AnyObject>;
  /**
   * JSON merge patch. With `metadata.resourceVersion` in it, an object that has changed since then answers Conflict (409). That is the
   * only protection against overwriting unseen changes, as the server ignores `metadata.uid` on subresources. An array is a JSON Patch:
   * if a `test` in it fails, it changes nothing and answers Invalid (422).
   */
  patch(
    resource: Resource,
    ref: ObjectRef,
    patch: unknown,
    options?: { readonly subresource?: 'status' },
    signal?: AbortSignal,
  ): Promise<AnyObject>;
  /** Returns false if there was none. With `uid`, another object of that name answers Conflict (409). */
  delete(
    resource: Resource,
    ref: ObjectRef,
    preconditions: { readonly uid: string },
    signal?: AbortSignal,
  ): Promise<boolean>;
}

/** The metav1.Status of a failed request. */
export class KubeError extends Error {
  override readonly name = 'KubeError';
  readonly status: number;
  /** metav1.StatusReason, such as Conflict, Gone, Forbidden; '' if the answer had none. */
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
  /** metav1.StatusCause reasons, such as NamespaceTerminating. */
  readonly causes: readonly string[];
  /** metav1.StatusCause of refused fields: path and the server's words. */
  readonly fields: readonly { readonly field: string; readonly message: string }[];

  constructor(
    message: string,
    details: {
      status: number;
      reason?: string;
      retryAfterMs?: number | undefined;
      causes?: readonly string[];
      fields?: KubeError['fields'];
    },
  ) {
    super(message);
    this.status = details.status;
    this.reason = details.reason ?? '';
    this.retryAfterMs = details.retryAfterMs;
    this.causes = details.causes ?? [];
    this.fields = details.fields ?? [];
  }
}

/** The object changed since it was read. */
export function isConflict(error: unknown): boolean {
  return error instanceof KubeError && error.status === 409 && error.reason !== 'AlreadyExists';
}

export function isAlreadyExists(error: unknown): boolean {
  return error instanceof KubeError && error.status === 409 && error.reason === 'AlreadyExists';
}

export function isNotFound(error: unknown): boolean {
  return error instanceof KubeError && error.status === 404;
}

/**
 * The API server says that there is no such object. The 404 of something in front of it, or of a path that it does not serve (a
 * definition that is being installed anew), says nothing of the object.
 */
export function isAbsence(error: unknown): boolean {
  return error instanceof KubeError && error.status === 404 && error.reason === 'NotFound';
}

/** Whoever asks lacks a right. */
export function isForbidden(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 403;
}

/** The resource version is too old to watch from: list again. */
export function isGone(error: unknown): boolean {
  return error instanceof KubeError && (error.status === 410 || error.reason === 'Expired');
}

/** The server refuses the request and always will: it is wrong, or asks for something that the server cannot do. */
export function isInvalid(error: unknown): boolean {
  return error instanceof KubeError && (error.status === 400 || error.status === 422);
}

/** The server has too much to do, is starting, or failed: it may answer differently next time. */
export function isBusy(error: unknown): boolean {
  return error instanceof KubeError && (error.status === 429 || error.status >= 500);
}

/** Asking again for the same would change nothing. A login is renewed, and a busy server asks for patience. */
export function isRefused(error: unknown): boolean {
  return error instanceof KubeError && error.status !== 401 && !isBusy(error);
}

/** Nothing can be created in a namespace that is being deleted. */
export function isNamespaceTerminating(error: unknown): boolean {
  return error instanceof KubeError && error.causes.includes('NamespaceTerminating');
}
