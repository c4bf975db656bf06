/** The cost of a job as text. */

import type { CostEstimate, Job } from "longshore-client";
import { expect, test } from "vitest";
import { costLine, costRows } from "../../src/cost";
import { dollars } from "../../src/text";

const PARTS = { compute: 0.01, requests: 0.000_2, database: 0.05, storage: 0, queue: 0.000_03 };
const COST = { total: 0.060_23, parts: PARTS };
const ESTIMATE: CostEstimate = {
  total: 0.07,
  parts: { ...PARTS, database: 0.06 },
  items: 5,
  assumedItemBytes: 200,
};

const job = (status: Job["status"], cost: Job["cost"], more: Partial<Job> = {}) =>
  ({ status, cost, ...more }) as Job;

test.each([
  [0, "$0.00"],
  [0.000_000_4, "less than $0.000001"],
  [0.000_001_9, "$0.000002"],
  [0.000_242, "$0.00024"],
  [0.009_99, "$0.0100"],
  [0.06, "$0.06"],
  [12.345, "$12.35"],
])("%d is %s", (amount, words) => {
  expect(dollars(amount)).toBe(words);
});

test("a job shows its estimate before it costs anything, and then its cost with the estimate and the maximum", () => {
  const nothing = { total: 0, parts: { compute: 0, requests: 0, database: 0, storage: 0, queue: 0 } };
  expect(costLine(job("waiting", nothing))).toBe(null);
  expect(costLine(job("waiting", nothing, { costEstimate: ESTIMATE, maxCost: 0.25 }))).toBe(
    "Estimated cost $0.07 · stops before $0.25",
  );
  expect(costLine(job("running", COST))).toBe("Cost so far $0.06");
  expect(costLine(job("failed", COST, { costEstimate: ESTIMATE, maxCost: 0.25 }))).toBe(
    "Cost $0.06 · estimated $0.07 · stops before $0.25",
  );
});

test("a job that waits without an estimate says so if it has items", () => {
  const nothing = { total: 0, parts: { compute: 0, requests: 0, database: 0, storage: 0, queue: 0 } };
  const source = { kind: "dataset", dataset: "people" } as Job["source"];
  const line = "Cost not estimated: the number of items is not known yet";
  expect(costLine(job("waiting", nothing, { source }))).toBe(line);
  expect(costLine(job("waiting", nothing, { fileName: "people.xlsx", maxCost: 0.25 }))).toBe(
    `${line} · stops before $0.25`,
  );
  expect(costLine(job("running", COST, { source }))).toBe("Cost so far $0.06");
  expect(costLine(job("completed", null, { fileName: "people.csv" }))).toBe(null);
});

test("a job that ended before costs were recorded has none", () => {
  expect(costLine(job("completed", null))).toBe(null);
});

test("each part is a row, and the sum is the last one", () => {
  const rows = costRows(job("completed", COST, { costEstimate: ESTIMATE }));
  expect(rows.map(({ cost }) => cost)).toEqual([0.01, 0.000_2, 0.05, 0, 0.000_03, 0.060_23]);
  expect(rows[2]).toEqual({ name: "Database", estimate: 0.06, cost: 0.05 });
  expect(costRows(job("waiting", null, { costEstimate: ESTIMATE })).at(-1)).toEqual({
    name: "Total",
    estimate: 0.07,
    cost: undefined,
  });
});
