import type { Clock } from '../base/clock.ts';
import type { Reference, ReferenceIndex } from '../base/collections/reference-index.ts';
import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { Pace } from '../base/pace.ts';
import type { Random } from '../base/random.ts';
import type { HttpTransport } from '../base/transport.ts';
import type { UrlPolicy } from '../kinds/databasespace/connection/url-policy.ts';
import { FinalizerIndex } from '../kinds/finalizer-index.ts';
import { paced } from '../kinds/secret-pace.ts';
import { createSecrets, type Secrets } from '../kinds/secrets.ts';
import { type AnyObject, type KubeApi, NAMESPACES } from '../kube/api.ts';
import { type KubeObject, type ObjectKey, splitKey } from '../kube/object.ts';
import { isNews, isNewsToOthers } from '../kube/predicate.ts';
import { Controller, type ControllerOptions, type KeyGate } from '../runtime/controller.ts';
import { createEventRecorder } from '../runtime/event-recorder.ts';
import type { Informer } from '../runtime/informer.ts';
import type { Kind, StatusBase } from '../runtime/kind.ts';
import type { Priority, WorkQueue } from '../runtime/workqueue.ts';
import type { Informers } from './informers.ts';
import type { Metrics } from './metrics.ts';
import { SecretReads, type SecretSource } from './secret-reads.ts';
import { seenByDependents } from './seen-by-dependents.ts';

export interface ControllerDependencies {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  /** HTTP to cloud and servers; `ca`: PEM to trust in addition to the system's. */
  readonly transport: (ca: string | undefined) => HttpTransport;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly concurrency: number;
  readonly urlPolicy: UrlPolicy;
  /** Names this process in Events. */
  readonly instance: string;
  /** The watched namespaces; undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  /** Called before each step of any object. */
  readonly onStep?: ControllerOptions['onStep'];
}

/** The controller of any kind. */
export interface AnyController {
  readonly queue: WorkQueue;
  run(stop: AbortSignal, kill: AbortSignal): Promise<void>;
  enqueueDependents(reference: Reference, priority?: Priority): void;
}

/** What the controllers of all kinds share: how to create one, how it hears of what concerns it, and how people hear of it. */
export class Wiring {
  readonly secrets: Secrets;
  readonly #dependencies: ControllerDependencies;
  readonly #informers: Informers;
  readonly #recorder: ReturnType<typeof createEventRecorder>;
  readonly #controllers: AnyController[] = [];
  readonly #pace: Pace;

  constructor(dependencies: ControllerDependencies, informers: Informers) {
    this.#dependencies = dependencies;
    this.#informers = informers;
    const { api, clock, log } = dependencies;
    this.#pace = new Pace(clock);
    const secrets: SecretSource = informers.secrets;
    const kept = new FinalizerIndex();
    secrets.onChange((key, before, after) => kept.changed(key, before, after));
    const direct = createSecrets(api, {
      get: (key) => secrets.store.get(key),
      withFinalizer: (finalizer) => kept.withFinalizer(finalizer),
      applyOwnWrite: (answer) => secrets.applyOwnWrite?.(answer),
    });
    this.secrets = paced(direct, clock);
    this.#recorder = createEventRecorder({
      ...dependencies,
      onFailure: (error, { kind, metadata: { namespace, name } }) =>
        log.warn({ kind, namespace, name, err: error }, `Cannot record an event: ${messageOf(error)}`),
    });
  }

  /** Creates the controller of a kind. A change to its objects reaches objects of any kind that refer to them. */
  controllerOf<Spec, Status extends StatusBase, Observation, Step>(
    kind: Kind<Spec, Status, Observation, Step>,
    source: Informer<KubeObject>,
    gate: KeyGate | undefined,
  ): Controller<Spec, Status, Observation, Step> {
    const { api, clock, random, log, metrics, concurrency, onStep } = this.#dependencies;
    const { secrets } = this.#informers;
    const share = metrics.controller(kind.definition.singular, concurrency);
    const controller = new Controller(secrets instanceof SecretReads ? secrets.before(kind) : kind, source, {
      api,
      clock,
      random,
      log,
      events: this.#recorder,
      metrics: share,
      concurrency,
      pace: this.#pace,
      gate,
      onStep,
    });
    share.watchQueue(controller.queue);
    source.onChange((key, before, after) => {
      if (isNewsToOthers(before, after) || seenByDependents(before) !== seenByDependents(after))
        this.notify(`${kind.definition.plural}/${key}`);
    });
    this.#controllers.push(controller);
    return controller;
  }

  /** From now on no Event is sent again. Resolves when all that passes have recorded so far are written, or have failed. */
  shutDownEvents(): Promise<void> {
    return this.#recorder.shutDown();
  }

  /** Queues every object that refers to this. */
  notify(reference: Reference, priority: Priority = 'normal'): void {
    for (const controller of this.#controllers) controller.enqueueDependents(reference, priority);
  }

  /**
   * Passes a change to an object on to the others that it concerned before and those that it concerns now. What its status says counts,
   * too: an object that is refused, or gives up, keeps nothing from others any more. `references`: those of its own kind.
   */
  notifyConcerned(
    source: Informer<KubeObject>,
    references: Pick<ReferenceIndex, 'dependents'>,
    concerns: (object: KubeObject | undefined) => readonly Reference[],
  ): void {
    source.onChange((changed, before, after) => {
      if (!mayConcernOthers(before, after)) return;
      for (const reference of new Set([...concerns(before), ...concerns(after)])) {
        // The object itself has already heard of it.
        const others = [...references.dependents(reference)].some((key) => key !== changed);
        if (others) this.notify(reference);
      }
    });
  }

  /** Passes a change to Secrets and ConfigMaps on to the objects that read them. */
  notifyReaders(): void {
    const { secrets, configMaps } = this.#informers;
    const readers = (plural: string, source: Informer<AnyObject> | SecretReads) =>
      source.onChange((key, before, after) => {
        // When a Secret is read for the first time, only the pass that reads it needs to know.
        if (before === undefined && source instanceof SecretReads) return;
        if (before?.metadata.resourceVersion !== after?.metadata.resourceVersion)
          this.notify(`${plural}/${key}`, 'high');
      });
    readers('secrets', secrets);
    readers('configmaps', configMaps);
  }

  /** For a kind's world: reports that a change from elsewhere was set back; the message says what. */
  driftCorrected(kind: string, source: Informer<KubeObject>) {
    return (key: ObjectKey, field: string, message: string): void => {
      this.#dependencies.metrics.driftCorrected(kind, field);
      const object = source.store.get(key);
      if (object !== undefined)
        this.#recorder.record(object, { status: 'True', reason: 'DriftCorrected', message }, true);
    };
  }

  /** For a kind's world: warns, once, that an object goes while what it stood for may stay. */
  warn(kind: string, reason: string, source: Informer<KubeObject>) {
    /** While a finalizer cannot be removed, each pass comes to the same. */
    const told = new Map<ObjectKey, string>();
    source.onChange((key, before, after) => {
      if (before?.metadata.uid !== after?.metadata.uid) told.delete(key);
    });
    return (key: ObjectKey, message: string): void => {
      if (told.get(key) === message) return;
      if (source.store.get(key) !== undefined) told.set(key, message);
      // No Event can be created in a namespace that is being deleted.
      this.#dependencies.log.warn({ kind, ...splitKey(key), reason }, message);
      const object = source.store.get(key);
      if (object !== undefined) this.#recorder.record(object, { status: 'False', reason, message }, true);
    };
  }

  /** For a kind's world: whether objects in the namespace are seen. */
  readonly watches = (namespace: string): boolean => this.#dependencies.namespaces?.includes(namespace) !== false;

  /** For a kind's world: returns the labels that decide whom a selector admits; undefined: there is no such namespace. */
  readonly namespaceLabels = async (
    name: string,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, string>> | undefined> => {
    const namespace = await this.#dependencies.api.get(NAMESPACES, { name }, signal);
    return namespace && (namespace.metadata.labels ?? {});
  };
}

/** Whether a change may concern other objects of the kind. A user that has a finalizer comes before others that want its name. */
export function mayConcernOthers(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  return isNews(before, after) || seenByDependents(before) !== seenByDependents(after);
}
