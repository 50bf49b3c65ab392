import { type AnyObject, CONFIG_MAPS, type KubeApi } from '../kube/api.ts';
import { type ObjectKey, objectKey } from '../kube/object.ts';

export interface ConfigMapContents {
  readonly resourceVersion: string;
  /** Text values only, without `binaryData`. */
  readonly data: ReadonlyMap<string, string>;
  /** Keys of `binaryData`, where kubectl puts values that are not UTF-8. */
  readonly notText: ReadonlySet<string>;
}

export interface ConfigMaps {
  /** The version last seen, without a request; undefined: there is none. */
  version(namespace: string, name: string): string | undefined;
  /** Undefined: there is none. */
  read(namespace: string, name: string, signal: AbortSignal): Promise<ConfigMapContents | undefined>;
}

/** The ConfigMaps as last seen, metadata only. */
interface ConfigMapCache {
  get(key: ObjectKey): AnyObject | undefined;
}

export function createConfigMaps(api: KubeApi, cache: ConfigMapCache): ConfigMaps {
  return {
    version: (namespace, name) => cache.get(objectKey(namespace, name))?.metadata.resourceVersion,
    async read(namespace, name, signal) {
      const object = await api.get(CONFIG_MAPS, { namespace, name }, signal);
      if (object === undefined) return undefined;
      type Texts = Readonly<Record<string, string>>;
      const { data, binaryData } = object as AnyObject & { readonly data?: Texts; readonly binaryData?: Texts };
      return {
        resourceVersion: object.metadata.resourceVersion,
        data: new Map(Object.entries(data ?? {})),
        notText: new Set(Object.keys(binaryData ?? {})),
      };
    },
  };
}
