import { type KubeApi, KubeError, type Resource, SECRETS } from '../../src/kube/api.ts';

/** The API for a caller that may read Secrets by name, but neither list nor watch them. */
export function withoutSecretLists(api: KubeApi): KubeApi {
  const check = (verb: string, resource: Resource) => {
    if (resource.plural !== SECRETS.plural) return;
    throw new KubeError(`secrets is forbidden: cannot ${verb} resource "secrets"`, {
      status: 403,
      reason: 'Forbidden',
    });
  };
  return {
    get: (...args) => api.get(...args),
    async list(...args) {
      check('list', args[0]);
      return api.list(...args);
    },
    async *watch(...args) {
      check('watch', args[0]);
      yield* api.watch(...args);
    },
    create: (...args) => api.create(...args),
    patch: (...args) => api.patch(...args),
    delete: (...args) => api.delete(...args),
  };
}
