/** Lists: paging, refreshing, and focus. */

import { expect, test } from "@playwright/test";
import { fakeJob, mockJobList } from "./mocks";
import { complete, fresh, open, people, pick, stack, start } from "./support";

test("a list's error disappears after a successful retry", async ({ page }) => {
  let isBroken = true;
  await mockJobList(page, (query) => {
    if (!query.has("cursor")) return { jobs: [fakeJob(2)], nextCursor: "1" };
    return isBroken ? 404 : { jobs: [fakeJob(1)], nextCursor: null };
  });
  await open(page, "/jobs");
  await page.getByRole("button", { name: "Show more" }).click();
  await expect(page.getByRole("alert")).toContainText("The server sent an unexpected answer");
  isBroken = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("link", { name: "file-1.csv" })).toBeVisible();
  await expect(page.getByRole("link", { name: "file-2.csv" })).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(0);
});

test("an import in the list shows the state of its undo", async ({ page }) => {
  const of = (number: number) => fakeJob(number).jobId;
  const undo = (number: number, status: "running" | "completed") =>
    fakeJob(number, { jobType: "undo", status, undoes: { jobId: of(1), preview: false } });
  await mockJobList(page, () => ({
    jobs: [
      undo(9, "running"),
      undo(8, "completed"),
      fakeJob(3, { undoneBy: of(9) }),
      fakeJob(2, { undoneBy: of(8) }),
      fakeJob(1, { undoneBy: of(7) }),
    ],
    nextCursor: null,
  }));
  await open(page, "/jobs");
  for (const [file, state] of [
    ["file-3.csv", "Being undone"],
    ["file-2.csv", "Undone"],
    ["file-1.csv", "Has an undo"],
  ] as const) {
    const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: file, exact: true }) });
    await expect(row.getByText(state, { exact: true })).toBeVisible();
  }
});

test("a job over the items of a request shows its source", async ({ page }) => {
  const { apiUrl, users } = stack();
  const items = [{ id: "1" }, { id: "2" }];
  const created = await page.request.post(`${apiUrl}/api/jobs`, {
    headers: { authorization: `Bearer ${users[0]?.token}` },
    data: { jobType: "import", items, options: { dataset: fresh("items"), key: "id" } },
  });
  expect(created.status()).toBe(202);
  const { jobId } = (await created.json()) as { jobId: string };
  await open(page, `/jobs/${jobId}`);
  await expect(page.getByText(/tems in the request/)).toBeVisible();
  await expect(page.getByText("Every row succeeded.")).toBeVisible({ timeout: 30_000 });
});

test("a page that arrives after the filter has changed is not appended", async ({ page }) => {
  let answerSlowly = () => {};
  const slowly = new Promise<void>((resolve) => {
    answerSlowly = resolve;
  });
  await mockJobList(page, async (query) => {
    if (query.has("status")) return { jobs: [fakeJob(3, { status: "failed" })], nextCursor: null };
    if (!query.has("cursor")) return { jobs: [fakeJob(2)], nextCursor: "1" };
    await slowly;
    return { jobs: [fakeJob(1)], nextCursor: null };
  });
  await open(page, "/jobs");
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByLabel("Status").selectOption("failed");
  await expect(page.getByRole("link", { name: "file-3.csv" })).toBeVisible();
  answerSlowly();
  await page.waitForTimeout(500);
  await expect(page.getByRole("main").getByRole("link")).toHaveText(["file-3.csv"]);
});

test("a running job's row is updated, without a change of other rows or of the focus", async ({ page }) => {
  const running = { status: "running", stage: "processing", itemProgress: 41, percent: 41 } as const;
  let change: object = running;
  let calls = 0;
  await mockJobList(page, (query) => {
    calls++;
    if (query.has("cursor")) return { jobs: [fakeJob(1)], nextCursor: null };
    return { jobs: [fakeJob(2, change)], nextCursor: "1" };
  });
  await open(page, "/jobs");
  await page.getByRole("button", { name: "Show more" }).click();
  const link = page.getByRole("link", { name: "file-1.csv" });
  await link.focus();
  const row = page.getByRole("row").filter({ hasText: "file-2.csv" });
  await expect(row).toContainText("41 of 100");
  change = {};
  await expect(row).toContainText("100 of 100");
  await expect(row).toContainText("Completed");
  await expect(link).toBeFocused();
  const before = calls;
  await page.waitForTimeout(6000);
  expect(calls).toBe(before);
});

test("the focus returns from a dialog, and moves to the heading after a deletion", async ({ page }) => {
  const name = `${fresh("focus")}.csv`;
  await open(page);
  await pick(page, name, people(5));
  await start(page);
  await complete(page);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Keep it" }).click();
  await expect(page.getByRole("button", { name: "Delete" })).toBeFocused();

  await page.getByRole("link", { name: "Jobs" }).click();
  const remove = page.getByRole("button", { name: `Delete ${name}` });
  await remove.click();
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(remove).toBeFocused();
  await remove.click();
  await page.getByRole("button", { name: "Delete job" }).click();
  await expect(remove).toHaveCount(0);
  await expect(page.getByRole("heading", { name: "Jobs" })).toBeFocused();
});

test("the time left is unknown after the estimate has risen sharply", async ({ page }) => {
  await open(page);
  await pick(page, `${fresh("eta")}.csv`, people(10));
  let etaSeconds = 4;
  await page.route(/\/api\/jobs\/[0-9a-f-]{36}$/, async (route) => {
    const json = fakeJob(1, {
      status: "running",
      stage: "processing",
      itemProgress: 41,
      percent: 41,
      etaSeconds,
      updatedAt: new Date().toISOString(),
    });
    await route.fulfill({ json, headers: { "retry-after": "1" } });
  });
  await start(page);
  const left = page.locator("dl div").filter({ hasText: "Time left" });
  await expect(left).toContainText("A few seconds");
  etaSeconds = 3600;
  await expect(left).toContainText("Not known yet");
});
