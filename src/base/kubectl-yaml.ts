import { boolYaml11Tag, CORE_SCHEMA, defineScalarTag, floatCoreTag, intCoreTag, mergeTag, NOT_RESOLVED } from 'js-yaml';

/** `0100` is octal, and `1_000` is one number. js-yaml's own YAML 1.1 integers would also read `1:30` as 90. */
const INTEGER = /^([-+]?)(0b[01]+|0x[0-9a-f]+|0o?[0-7]+|0|[1-9]\d*)$/i;
const intOfGo = defineScalarTag(intCoreTag.tagName, {
  ...intCoreTag,
  resolve(source) {
    const [, sign, digits] = INTEGER.exec(source.replaceAll('_', '')) ?? [];
    if (digits === undefined) return NOT_RESOLVED;
    const value = Number(digits.replace(/^0o?(?=[0-7])/i, '0o'));
    return sign === '-' ? -value : value;
  },
});
const floatOfGo = defineScalarTag(floatCoreTag.tagName, {
  ...floatCoreTag,
  resolve: (source, ...how) => floatCoreTag.resolve(source.replaceAll('_', ''), ...how),
});

/**
 * What `kubectl apply` accepts besides YAML 1.2: `<<: *others`, `yes` for true, and numbers as Go writes them. Texts that look like one
 * of these are quoted when they are written by it.
 */
export const AS_KUBECTL = CORE_SCHEMA.withTags(mergeTag, boolYaml11Tag, intOfGo, floatOfGo);
