import { definitions } from '../../src/kinds/definitions.ts';
import { isOwn } from '../../src/kube/condition.ts';
import type { FakeObject } from '../../src/sandbox/fake-kube.ts';
import { KINDS, statusOf, type View } from './view.ts';

/** The API server's rule for the reason of a condition. */
const REASON = /^[A-Z][A-Za-z0-9]*$/;

/** Validates statuses as the API server would: the one in memory does not. */
export class StatusesTold {
  readonly #view: View;
  readonly #seen = new WeakSet<FakeObject>();

  constructor(view: View) {
    this.#view = view;
  }

  /** Must be called after each effect. */
  *wrong(): Iterable<string> {
    for (const resource of KINDS) {
      for (const object of this.#view.objects(resource)) {
        if (this.#seen.has(object)) continue;
        this.#seen.add(object);
        const definition = definitions.find(({ plural }) => plural === resource.plural);
        const { error } = definition?.status.safeParse(object['status']) ?? {};
        for (const { path, message } of error?.issues ?? [])
          yield `The status of ${resource.kind} ${object.metadata.name} is refused: ${path.join('.')}: ${message}`;
        const { conditions = [] } = statusOf(object);
        for (const { type, reason, message } of conditions.filter(isOwn))
          if (message === '' || !REASON.test(reason))
            yield `Condition ${type} of ${resource.kind} ${object.metadata.name} does not say why: ${reason}: ${message}`;
      }
    }
  }
}
