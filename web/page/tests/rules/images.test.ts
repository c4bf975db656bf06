/** The images of a job, and the words for a job that waits. */

import { readFileSync } from "node:fs";
import { ProblemError, type WaitingReason } from "longshore-client";
import { expect, test, vi } from "vitest";
import { imageOf, isShown, largestOf, limited, thumbnailOf, untilAllowed } from "../../src/images";
import { imagesText } from "../../src/text/images";
import { waitingText } from "../../src/text/waiting";
import { nextTry, runbookSection, waitingWords } from "../../src/waiting";

const file = (name: unknown, width: unknown = 320, height: unknown = 213) => ({
  name,
  width,
  height,
  bytes: 9,
});
const row = (...files: object[]) => ({ number: 17, output: { width: 1, height: 1, files } });

test("the smallest file that fills a thumbnail is its thumbnail, and the largest one is opened", () => {
  const image = imageOf(row(file("17-1280.webp", 1280), file("17-64.webp", 64), file("17-320.webp", 320)));
  if (!image) throw new Error("no image");
  expect(image.item).toBe(17);
  expect([thumbnailOf(image)?.name, largestOf(image)?.name]).toEqual(["17-320.webp", "17-1280.webp"]);
  const small = { item: 1, files: image.files.slice(0, 1) };
  expect(thumbnailOf(small)?.name).toBe("17-64.webp");
  expect([thumbnailOf({ item: 1, files: [] }), largestOf({ item: 1, files: [] })]).toEqual([
    undefined,
    undefined,
  ]);
});

test.each([
  ["another address", file("https://example.com/a.png")],
  ["another folder", file("../results.jsonl")],
  ["a hidden name", file("..")],
  ["a query", file("a.png?x=1")],
  ["no name", file(7)],
  ["no width", file("a.png", "320")],
  ["no height", file("a.png", 320, 0)],
  ["too many pixels to count", file("a.png", 1e300)],
])("a file with %s is not shown", (_, bad) => {
  expect(imageOf(row(bad, file("b.png")))?.files.map(({ name }) => name)).toEqual(["b.png"]);
});

test.each([
  [null],
  ["text"],
  [{ number: 1 }],
  [{ number: "1", output: { files: [] } }],
  [{ number: 1, output: { files: {} } }],
])("the row %j is no image", (row) => expect(imageOf(row)).toBeNull());

test.each([
  ["image/webp", true],
  ["image/JPEG", true],
  ["image/png; q=1", true],
  ["image/svg+xml", false],
  ["text/html", false],
  ["", false],
])("a file of the type %j is shown: %s", (type, shown) => {
  expect(isShown({ type } as Blob)).toBe(shown);
});

test("at most as many downloads run at a time as the limit says, in order, and an aborted one never begins", async () => {
  const run = limited(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const stop = new AbortController();
  const calls = [0, 1, 2, 3].map((at) =>
    run(at === 2 ? stop.signal : new AbortController().signal, () => {
      begun.push(at);
      return new Promise<void>((resolve) => ends.push(resolve));
    }).catch((error: Error) => error.name),
  );
  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  stop.abort();
  ends[0]?.();
  await calls[0];
  expect(await calls[2]).toBe("AbortError");
  await microtasks();
  expect(begun).toEqual([0, 1, 3]);
  for (const end of ends) end();
  await Promise.all(calls);
  const later = run(stop.signal, async () => 1).catch((error: Error) => error.name);
  expect(await later).toBe("AbortError");
  expect(await run(new AbortController().signal, async () => 1)).toBe(1);
});

/** Lets pending promises settle. */
const microtasks = () => new Promise((resolve) => setImmediate(resolve));

const refusal = (status: number, retryAfter: number | null) => new ProblemError(status, {}, retryAfter);

test.each([
  [7, 7],
  [0, 1],
  [null, 1],
  [86_400, 300],
])("a download with 429 and Retry-After %j is tried again after %j s", async (retryAfter, seconds) => {
  vi.useFakeTimers();
  const call = vi.fn().mockRejectedValueOnce(refusal(429, retryAfter)).mockResolvedValue("an image");
  const read = untilAllowed(new AbortController().signal, call);
  await vi.advanceTimersByTimeAsync(seconds * 1000 - 1);
  expect(call).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(await read).toBe("an image");
  vi.useRealTimers();
});

test("a download ends with any other error, and with its view", async () => {
  const { signal } = new AbortController();
  await expect(untilAllowed(signal, () => Promise.reject(refusal(404, null)))).rejects.toMatchObject({
    status: 404,
  });
  const stop = new AbortController();
  const read = untilAllowed(stop.signal, () => Promise.reject(refusal(429, 60)));
  setTimeout(() => stop.abort(), 0);
  await expect(read).rejects.toMatchObject({ name: "AbortError" });
});

test("each code of the guide has a text", () => {
  const guide = readFileSync(new URL("../../../../docs/guides/images.md", import.meta.url), "utf8");
  const table = guide.slice(guide.indexOf("| code | reason |")).split("\n\n")[0] ?? "";
  const codes = table.split("\n").flatMap((line) => line.split("|")[1]?.match(/(?<=`)[a-z_]+(?=`)/g) ?? []);
  expect(codes.length).toBeGreaterThan(14);
  expect(codes.filter((code) => !imagesText.images.reasons[code])).toEqual([]);
});

const NOW = Date.parse("2026-11-26T12:00:00Z");

test.each([
  ["2026-11-26T12:00:12.4Z", "Next try in 12 seconds"],
  ["2026-11-26T12:00:01Z", "Next try in 1 second"],
  ["2026-11-26T12:10:00Z", "Next try in 10 minutes"],
  ["2026-11-26T12:00:00.2Z", "Next try in a moment"],
  ["2026-11-26T11:59:00Z", "Next try in a moment"],
  [null, null],
  [undefined, null],
  ["soon", null],
])("the next try at %s", (at, words) => {
  expect(nextTry(at, NOW)).toBe(words);
});

test.each([
  ["handler_unavailable", "The handler does not respond"],
  ["handler_failing", "The handler fails at every batch"],
  ["concurrency_limit", "Other jobs of this type are running"],
  ["rate_limit", "The rate limit of this type is reached"],
  ["backpressure", "The handler asks for a pause"],
  ["of_a_later_version", "The job waits for its handler"],
  ["constructor", "The job waits for its handler"],
])("the reason %s has words", (reason, title) => {
  expect(waitingWords(reason as WaitingReason)[0]).toBe(title);
});

test("every reason has its section in the runbook", () => {
  const runbook = readFileSync(new URL("../../../../docs/runbook.md", import.meta.url), "utf8");
  for (const reason of Object.keys(waitingText.waiting.reasons) as WaitingReason[]) {
    const [, anchor] = runbookSection("https://git.example.com/runbook.md", reason).split("#");
    expect(runbook).toContain(`\n### ${anchor}\n`);
    expect(runbookSection(null, reason)).toBe(`docs/runbook.md#${reason}`);
  }
});
