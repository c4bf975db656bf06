import { expect, test, vi } from "vitest";

vi.stubGlobal("location", { pathname: "/" });
const { parseRoute } = await import("../../src/router");

test.each([
  ["/", { view: "import" }],
  ["/jobs", { view: "jobs" }],
  ["/jobs/", { view: "jobs" }],
  ["/jobs/1/", { view: "job", jobId: "1" }],
  ["/datasets/a%20b/", { view: "records", dataset: "a b" }],
  ["/jobs/1/2", { view: "unknown" }],
  ["/elsewhere", { view: "unknown" }],
])("%s", (path, route) => {
  expect(parseRoute(path)).toEqual(route);
});
