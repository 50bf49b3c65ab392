import type { Schema, Types } from './schema.ts';
import { isRecord } from './values.ts';

/*
 * Types of Kubernetes for the chart's schema, from an API server's OpenAPI documents, and closed: an unknown key is refused,
 * since a typo in a security context would otherwise be dropped silently.
 */

/** `/openapi/v3/…` → the types that values.yaml uses from there. */
export const WANTED: Readonly<Record<string, readonly string[]>> = {
  '/openapi/v3/apis/apps/v1': [
    ...['Affinity', 'Container', 'EnvFromSource', 'EnvVar', 'HostAlias', 'LocalObjectReference', 'PodDNSConfig'],
    ...['PodSecurityContext', 'ResourceRequirements', 'SecurityContext', 'Toleration', 'TopologySpreadConstraint'],
    ...['Volume', 'VolumeMount', 'DeploymentStrategy'],
  ],
  '/openapi/v3/apis/networking.k8s.io/v1': ['NetworkPolicyEgressRule', 'NetworkPolicyPeer'],
};

const TIMES = [
  ...['initialDelaySeconds', 'periodSeconds', 'timeoutSeconds', 'successThreshold', 'failureThreshold'],
  'terminationGracePeriodSeconds',
];

const QUANTITY = '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$';

/** `documents`: path → its OpenAPI document. */
export function typesOf(documents: ReadonlyMap<string, unknown>): Types {
  const types: Record<string, Schema> = {};
  for (const [path, wanted] of Object.entries(WANTED)) {
    const schemas = schemasOf(documents.get(path));
    const visit = (name: string) => {
      if (types[name] !== undefined) return;
      const full = [...schemas.keys()].find((key) => key.endsWith(`.${name}`));
      if (full === undefined) throw new Error(`The API server's ${path} has no type ${name}`);
      types[name] = {};
      const closed = close(schemas.get(full));
      types[name] = closed;
      for (const [, other = ''] of JSON.stringify(closed).matchAll(/"#\/definitions\/(\w+)"/g)) visit(other);
    };
    wanted.forEach(visit);
  }
  // The chart sets what a probe requests; only its times are values.
  const times = Object.fromEntries(TIMES.map((name) => [name, { type: 'integer', minimum: 0 }]));
  types['ProbeTimes'] = { type: 'object', additionalProperties: false, properties: times };
  // The API server's document has no pattern, and it refuses a Quantity only when the definitions are installed already.
  types['Quantity'] = { ...types['Quantity'], pattern: QUANTITY };
  return Object.fromEntries(Object.entries(types).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function schemasOf(document: unknown): ReadonlyMap<string, unknown> {
  const components = isRecord(document) ? document['components'] : undefined;
  const schemas = isRecord(components) ? components['schemas'] : undefined;
  if (!isRecord(schemas)) throw new Error('The API server has no OpenAPI document of that path');
  return new Map(Object.entries(schemas));
}

/** Keeps types and names; drops descriptions, defaults and what only Kubernetes reads. */
function close(schema: unknown): Schema {
  if (!isRecord(schema)) return {};
  const { $ref, allOf, oneOf, type, properties, items, additionalProperties, required, enum: values } = schema;
  const reference = typeof $ref === 'string' ? $ref : referenceIn(allOf);
  if (reference !== undefined) return { $ref: `#/definitions/${reference.split('.').at(-1)}` };
  // IntOrString and Quantity.
  if (Array.isArray(oneOf)) return { type: oneOf.map((each) => (isRecord(each) ? each['type'] : undefined)) };
  return {
    ...(type === undefined ? {} : { type }),
    ...(isRecord(properties)
      ? { additionalProperties: false, properties: Object.fromEntries(Object.entries(properties).map(closeEntry)) }
      : {}),
    ...(items === undefined ? {} : { items: close(items) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: close(additionalProperties) }),
    ...(required === undefined ? {} : { required }),
    ...(values === undefined ? {} : { enum: values }),
  };
}

function closeEntry([name, schema]: readonly [string, unknown]): readonly [string, Schema] {
  return [name, close(schema)];
}

function referenceIn(allOf: unknown): string | undefined {
  const [only] = Array.isArray(allOf) ? allOf : [];
  return isRecord(only) && typeof only['$ref'] === 'string' ? only['$ref'] : undefined;
}
