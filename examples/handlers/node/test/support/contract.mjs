// Messages of the contract, and a check of answers against its published schemas.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { isValid } from "./schema.mjs";

const FOLDER = new URL("../../../../../docs/contract/", import.meta.url);
const JOB = "01980000-0000-7000-8000-000000000001";
export const ANSWER_BYTES = 4 << 20;

/** Returns whether a document is valid. */
export function meets(name, document) {
  return isValid(JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), "utf8")), document);
}

/** Returns the examples of the contract's document: name of the schema, "bad" or "", and the JSON. */
export function publishedExamples() {
  const text = readFileSync(new URL("README.md", FOLDER), "utf8");
  const fences = text.matchAll(/```json ([\w-]+) ?(\w*)\n(.*?)```/gs);
  return [...fences].map(([, name, kind, json]) => ({ name, kind, document: JSON.parse(json) }));
}

/** Returns a batch of items with these values, with its deadline some seconds from now. */
export function batch(values, { seconds = 60, mode = "run", options = {} } = {}) {
  const items = values.map((value, index) => ({ key: `${JOB}-${index + 1}`, number: index + 1, try: 1, value }));
  const deadline = new Date(Date.now() + seconds * 1000).toISOString();
  const request = {
    schema: "longshore.items/1",
    mode,
    job: { id: JOB, type: "contacts", tenant: "acme", generation: 1, options },
    batch: { id: `${JOB}-1-12-3-k3v9q1`, deadline },
    items,
  };
  assert(meets("items-request", request));
  return request;
}

export const ping = () => ({ schema: "longshore.ping/1", challenge: "3q2-7wEjRWc", stack: "longshore-prod" });

/** Returns the results of an answer, without their keys. Fails unless the answer meets the contract. */
export function checked(request, answer) {
  const text = JSON.stringify(answer);
  assert(Buffer.byteLength(text) <= ANSWER_BYTES, "the answer is too large");
  assert(text.isWellFormed() && !/(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(text), "half of a surrogate pair");
  const { results = [], ...others } = JSON.parse(text);
  assert(meets("items-answer", JSON.parse(text)), text.slice(0, 1000));
  const keys = results.map(({ key }) => key);
  assert.equal(new Set(keys).size, keys.length, "a key has two results");
  assert(keys.every((key) => request.items.some((item) => item.key === key)), "a key that is not in the batch");
  return results.length > 0 ? results.map(({ key, ...result }) => result) : others;
}
