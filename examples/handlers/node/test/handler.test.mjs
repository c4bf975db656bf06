import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { busy, fatal, handler, reject, retry, skip } from "../longshore-handler.mjs";
import { ANSWER_BYTES, batch, checked, meets, ping, publishedExamples } from "./support/contract.mjs";

const log = mock.method(console, "error", () => {});
const logged = () => log.mock.calls.map((call) => call.arguments.join(" ")).join("\n");
const modes = ["run", "validate"];

async function results(work, values, options) {
  const request = batch(values, options);
  return checked(request, await handler(work, { modes })(request));
}

/** Throws outcomes and errors, and returns all other values. */
const thrown = (value) => {
  throw value;
};

test("each outcome is one of the contract", async () => {
  const cases = [
    [() => ({ id: 1 }), { outcome: "ok", output: { id: 1 } }],
    [async () => [], { outcome: "ok", output: [] }],
    [() => undefined, { outcome: "ok" }],
    [() => null, { outcome: "ok", output: null }],
    [() => thrown(reject("bad")), { outcome: "reject", code: "bad" }],
    [
      async () => thrown(reject("bad", { field: "email", message: "no" })),
      { outcome: "reject", code: "bad", field: "email", message: "no" },
    ],
    [() => thrown(retry()), { outcome: "retry" }],
    [() => thrown(retry({ reason: "busy", after: 1.5 })), { outcome: "retry", reason: "busy", after: 1.5 }],
    [() => thrown(skip("unchanged")), { outcome: "skip", code: "unchanged" }],
  ];
  const found = await results((index) => cases[index][0](), [...cases.keys()]);
  assert.deepEqual(found, cases.map(([, expected]) => expected));
});

test("a function gets the key, the attempt, the mode and the job", async () => {
  const request = batch(["a"], { mode: "validate", options: { event: "launch" } });
  Object.assign(request.items[0], { try: 2, later: "a member of a later version" });
  const work = (_, { key, attempt, mode, job }) => [key, attempt, mode, job.options];
  const [{ output }] = checked(request, await handler(work, { modes })(request));
  assert.deepEqual(output, [request.items[0].key, 2, "validate", { event: "launch" }]);
});

test("an exception fails its item only, and no row is logged", async () => {
  const row = "ann@example.com\n    at ann@example.com";
  const early = new Error(row);
  assert.match(early.stack, /ann@/); // From now on, the stack has this message.
  const errors = [
    () => thrown(new RangeError(row)),
    () => Promise.reject(new Error(row, { cause: row })),
    () => thrown(Object.assign(early, { message: "" })),
    () => thrown(row),
    () => thrown({ name: row }),
    () => thrown(Object.create(null)),
    () => thrown(null),
  ];
  const found = await results((index) => errors[index]?.() ?? "done", [...errors.keys(), errors.length]);
  assert.deepEqual(found.map(({ outcome }) => outcome), [...errors.map(() => "retry"), "ok"]);
  assert.equal(found[0].reason, "the handler failed: RangeError");
  assert.match(logged(), /-1: RangeError at .*handler\.test\.mjs:\d+/);
  assert.doesNotMatch(logged() + JSON.stringify(found), /ann@/);
});

test("what cannot be written as JSON fails its item only", async () => {
  const loop = {};
  loop.loop = loop;
  for (const value of [1n, loop, "\ud800", { a: ["\\\udc00"] }, { toJSON: () => thrown(new Error("no")) }]) {
    const found = await results((number) => (number === 2 ? value : number), [1, 2, 3]);
    assert.deepEqual(found.map(({ outcome }) => outcome), ["ok", "retry", "ok"]);
  }
  const cut = await results(() => thrown(reject("bad", { message: "👩".slice(0, 1) })), [1]);
  assert.equal(cut[0].outcome, "retry");
});

test("a code of another form fails its item only", async () => {
  for (const code of ["Bad e-mail", "", "bad_email\n", "a".repeat(101), null, 7]) {
    const found = await results((number) => thrown(number === 2 ? reject(code) : skip("unchanged")), [1, 2]);
    assert.deepEqual(found.map(({ outcome }) => outcome), ["skip", "retry"], `${code}`);
  }
});

test("a handler stops before the deadline and leaves the rest unanswered", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 1_800_000_000_000 });
  const cases = [[60, 2, 29], [60, 20, 2], [10, 2, 4], [3, 2, 1], [0, 2, 1], [-100, 2, 1]];
  for (const [seconds, duration, answered] of cases) {
    const found = await results(() => t.mock.timers.tick(duration * 1000), Array(40).fill(""), { seconds });
    assert.equal(found.length, answered, `${seconds} s, ${duration} s for each item`);
  }
});

test("a Lambda function with less time stops before its own end", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 1_800_000_000_000 });
  const work = handler(() => t.mock.timers.tick(1000));
  const { results } = await work(batch(Array(40).fill("")), { getRemainingTimeInMillis: () => 5000 });
  assert.equal(results.length, 4);
});

test("an item twice in a batch has one result", async () => {
  const request = batch(["a", "b"]);
  request.items.push(request.items[0]);
  assert.equal(checked(request, await handler((value) => value)(request)).length, 2);
});

test("unicode is unchanged", async () => {
  const texts = ["ä", "\u0000\u2028", "日本語", "👩‍👩‍👧", "\uffff", "e\u0301", "\\ud800", "\\\\ud800"];
  const found = await results((text) => ({ [text]: text }), texts);
  assert.deepEqual(found.map(({ output }) => output), texts.map((text) => ({ [text]: text })));
});

test("an answer with large outputs is below the limit", async () => {
  for (const text of ["x", "ü", "日", "👩", "\u0001"]) {
    const bytes = Buffer.byteLength(JSON.stringify(text)) - 2;
    for (const size of [1 << 10, 1 << 16, (1 << 20) - 100]) {
      const output = text.repeat(Math.floor(size / bytes));
      const found = await results(() => output, Array(100).fill(""));
      assert(found.every(({ outcome }) => outcome === "ok") && found.length >= Math.min(100, (2 << 20) / size));
    }
  }
});

test("an output above the limit fails its item only", async () => {
  const found = await results((count) => "x".repeat(count), [10, 2 << 20, 2 * ANSWER_BYTES, 11]);
  const codes = found.map(({ code }) => code);
  assert.deepEqual(codes, [undefined, "output_too_large", "output_too_large", undefined]);
});

test("an outcome of the batch is the answer if nothing was done before", async () => {
  const cases = [
    [busy({ reason: "quota", after: 20 }), { retryBatch: { reason: "quota", after: 20 } }],
    [busy(), { retryBatch: {} }],
    [fatal("expired", { message: "it expired" }), { fatal: { code: "expired", message: "it expired" } }],
  ];
  for (const [outcome, expected] of cases) {
    assert.deepEqual(await results(() => thrown(outcome), [1, 2, 3]), expected);
    const later = await results((number) => (number === 3 ? thrown(outcome) : number), [1, 2, 3]);
    assert.deepEqual(later.map(({ output }) => output), [1, 2]);
  }
});

test("a ping is answered with its challenge", async () => {
  for (const known of [["run"], modes]) {
    const answer = await handler(thrown, { modes: known })(ping());
    assert(meets("ping-answer", answer));
    assert.deepEqual(answer, { schemas: ["longshore.items/1"], challenge: ping().challenge, modes: known });
  }
});

test("an unknown schema or mode is an exception without any effect", async () => {
  for (const change of [{ schema: "longshore.items/2" }, { mode: "validate" }, { mode: "other" }]) {
    const work = mock.fn();
    await assert.rejects(handler(work)({ ...batch(["a"]), ...change }), /unknown schema or mode/);
    assert.equal(work.mock.callCount(), 0);
  }
});

test("the validator agrees with the published examples", () => {
  const examples = publishedExamples();
  assert(examples.length > 10);
  for (const { name, kind, document } of examples) {
    assert.equal(meets(name, document), kind !== "bad", JSON.stringify(document));
  }
});
