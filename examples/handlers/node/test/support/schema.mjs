// A validator of the JSON Schema keywords that the contract's schemas use. It refuses all other keywords.

import { isDeepStrictEqual } from "node:util";

const ANNOTATIONS = new Set(["$schema", "$id", "$defs", "title", "description", "format", "then"]);

/** Returns whether a value is valid. */
export function isValid(schema, value, root = schema) {
  const keywords = Object.keys(schema).filter((keyword) => !ANNOTATIONS.has(keyword));
  return keywords.every((keyword) => {
    const holds = KEYWORDS[keyword];
    if (!holds) throw new Error(`unknown keyword ${keyword}`);
    return holds(schema[keyword], value, root, schema);
  });
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

const TYPES = {
  object: isObject,
  array: Array.isArray,
  string: (value) => typeof value === "string",
  integer: Number.isInteger,
  number: (value) => typeof value === "number",
  null: (value) => value === null,
};

const KEYWORDS = {
  $ref: (rule, value, root) => isValid(root.$defs[rule.replace("#/$defs/", "")], value, root),
  type: (rule, value) => [rule].flat().some((name) => TYPES[name](value)),
  const: (rule, value) => isDeepStrictEqual(rule, value),
  enum: (rule, value) => rule.some((one) => isDeepStrictEqual(one, value)),
  not: (rule, value, root) => !isValid(rule, value, root),
  allOf: (rule, value, root) => rule.every((one) => isValid(one, value, root)),
  anyOf: (rule, value, root) => rule.some((one) => isValid(one, value, root)),
  oneOf: (rule, value, root) => rule.filter((one) => isValid(one, value, root)).length === 1,
  if: (rule, value, root, schema) => !isValid(rule, value, root) || isValid(schema.then, value, root),
  required: (rule, value) => !isObject(value) || rule.every((name) => Object.hasOwn(value, name)),
  properties: (rule, value, root) =>
    !isObject(value) ||
    Object.keys(rule).every((name) => !Object.hasOwn(value, name) || isValid(rule[name], value[name], root)),
  items: (rule, value, root) => !Array.isArray(value) || value.every((one) => isValid(rule, one, root)),
  contains: (rule, value, root) => !Array.isArray(value) || value.some((one) => isValid(rule, one, root)),
  minItems: (rule, value) => !Array.isArray(value) || value.length >= rule,
  maxItems: (rule, value) => !Array.isArray(value) || value.length <= rule,
  minLength: (rule, value) => typeof value !== "string" || value.length >= rule,
  maxLength: (rule, value) => typeof value !== "string" || value.length <= rule,
  pattern: (rule, value) => typeof value !== "string" || new RegExp(rule).test(value),
  minimum: (rule, value) => typeof value !== "number" || value >= rule,
};
