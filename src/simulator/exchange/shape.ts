import { Refusal } from './message.ts';

/** What a request body may contain, as data. Anything else is refused: the simulator forgives nothing. */
export interface Field {
  readonly type: 'string' | 'integer' | 'boolean' | 'object' | 'objects';
  readonly required: boolean;
  readonly oneOf?: readonly (string | number)[];
  /** Smallest integer allowed. */
  readonly min?: number;
  /** The fields of an object; absent: any. */
  readonly fields?: Shape;
}

export type Shape = Readonly<Record<string, Field>>;

/** A shape's value as TypeScript sees it. */
export type ValueOf<S extends Shape> = {
  readonly [K in keyof S as S[K]['required'] extends true ? K : never]: FieldValue<S[K]>;
} & { readonly [K in keyof S as S[K]['required'] extends true ? never : K]?: FieldValue<S[K]> };

type FieldValue<F extends Field> = F['oneOf'] extends readonly (infer V)[]
  ? V
  : F['type'] extends 'string'
    ? string
    : F['type'] extends 'integer'
      ? number
      : F['type'] extends 'boolean'
        ? boolean
        : F['type'] extends 'objects'
          ? readonly Readonly<Record<string, unknown>>[]
          : F['fields'] extends Shape
            ? ValueOf<F['fields']>
            : Readonly<Record<string, unknown>>;

/** The body as an object of exactly this shape, or a Refusal that names the first thing wrong with it. */
export function readBody<const S extends Shape>(
  body: string,
  headers: Readonly<Record<string, string>>,
  shape: S,
): ValueOf<S> {
  if (body === '') throw malformed('A JSON body is required');
  const contentType = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (contentType !== 'application/json') {
    throw malformed(`Content-Type must be application/json, not ${contentType ?? 'absent'}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw malformed('The body is not valid JSON');
  }
  checkObject(value, shape, '');
  return value as ValueOf<S>;
}

export function refuseBody(body: string): void {
  if (body !== '') throw malformed('This operation takes no request body');
}

export const malformed = (message: string) => new Refusal(400, 'malformedRequest', message);

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function checkObject(value: unknown, shape: Shape, path: string): void {
  if (!isObject(value)) throw malformed(`${path === '' ? 'The body' : path} must be an object`);
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(shape, name)) throw malformed(`Unknown field ${path === '' ? name : `${path}.${name}`}`);
  }
  for (const [name, field] of Object.entries(shape)) {
    const at = path === '' ? name : `${path}.${name}`;
    if (Object.hasOwn(value, name)) checkField(value[name], field, at);
    else if (field.required) throw malformed(`Field ${at} is required`);
  }
}

function checkField(value: unknown, field: Field, path: string): void {
  switch (field.type) {
    case 'string':
    case 'boolean':
      if (typeof value !== field.type) throw malformed(`${path} must be a ${field.type}`);
      break;
    case 'integer':
      if (!Number.isSafeInteger(value)) throw malformed(`${path} must be an integer`);
      if (field.min !== undefined && Number(value) < field.min)
        throw malformed(`${path} must be at least ${field.min}`);
      break;
    case 'objects':
      if (!Array.isArray(value) || !value.every(isObject)) throw malformed(`${path} must be an array of objects`);
      break;
    case 'object':
      if (field.fields !== undefined) checkObject(value, field.fields, path);
      else if (!isObject(value)) throw malformed(`${path} must be an object`);
  }
  if (field.oneOf !== undefined && !field.oneOf.some((allowed) => allowed === value)) {
    throw malformed(`${path} must be one of ${field.oneOf.join(', ')}`);
  }
}
