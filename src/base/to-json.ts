/** JSON that writes a bigint as an integer. `indent`: spaces for each level; without it, all is on one line. */
export function toJson(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_key, member: unknown) => (typeof member === 'bigint' ? rawJSON(member.toString()) : member),
    indent,
  );
}

/** `JSON.rawJSON`, which the compiler's library does not know yet. */
const rawJSON: (text: string) => unknown = Reflect.get(JSON, 'rawJSON');
