import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mock, test } from "node:test";
import { BusyError, checkContact } from "../contacts.mjs";
import { handler } from "../index.mjs";
import { handler as handlerOf } from "../longshore-handler.mjs";
import { batch, checked, meets, ping } from "./support/contract.mjs";

const CASES = JSON.parse(readFileSync(new URL("../../cases.json", import.meta.url), "utf8"));
mock.method(console, "error", () => {});

test("the Lambda function has the result of each case", async () => {
  for (const mode of ["run", "validate"]) {
    const request = batch(CASES.map(({ value }) => value), { mode });
    const results = checked(request, await handler(request));
    for (const [index, { name, result }] of CASES.entries()) assert.deepEqual(results[index], result, name);
  }
});

test("the Lambda function answers a ping", async () => {
  assert(meets("ping-answer", await handler(ping())));
});

test("a busy directory is a retry", async () => {
  const find = () => Promise.reject(new BusyError("busy"));
  const request = batch([{ email: "ann@example.com", country: "France" }]);
  const answer = await handlerOf((record, item) => checkContact(record, item, find))(request);
  assert.deepEqual(checked(request, answer), [
    { outcome: "retry", reason: "the directory of countries is busy", after: 30 },
  ]);
});
