/**
 * Imports: from a dropped file to corrected rows, from the check of a file with invalid rows, and by the client's
 * example for Node against the local stack.
 */

import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "@playwright/test";
import { complete, figure, fresh, open, people, pick, pickSchema, stack, start } from "./support";

const EXAMPLE = fileURLToPath(new URL("../../../client/examples/node.mjs", import.meta.url));

test("only corrected rows run again", async ({ page }) => {
  const dataset = fresh("people");
  await open(page);
  await pick(page, `${dataset}.csv`, people(1000, 100));
  await expect(page.getByRole("region", { name: "The first rows of the file" })).toContainText("Person 5");
  await expect(page.getByText("CSV, columns separated by commas")).toBeVisible();
  await pickSchema(page);
  await expect(page.getByLabel("Column for age")).toHaveValue("age");
  await start(page);
  await complete(page);
  expect([await figure(page, "Succeeded"), await figure(page, "Failed")]).toEqual(["990", "10"]);

  const reasons = page.getByRole("region", { name: "By reason" }).locator("tbody tr");
  await expect(reasons).toHaveCount(1);
  await expect(reasons).toContainText("age");
  await expect(reasons).toContainText("10");
  const rows = page.getByRole("region", { name: "Row by row" }).locator("tbody tr");
  await expect(rows).toHaveCount(10);
  await expect(rows.first()).toContainText("100");
  await expect(rows.first()).toContainText("unknown");

  const [workbook] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download 10 rows (Excel)" }).click(),
  ]);
  expect(workbook.suggestedFilename()).toMatch(/-failed\.xlsx$/);
  expect(
    readFileSync(await workbook.path())
      .subarray(0, 2)
      .toString(),
  ).toBe("PK");
  const tooLarge = {
    title: "x",
    status: 422,
    errors: [{ pointer: "/format", code: "failures_too_large", detail: "x" }],
  };
  await page.route("**/failures?format=xlsx", (route) =>
    route.fulfill({ status: 422, contentType: "application/problem+json", json: tooLarge }),
  );
  const [instead] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download 10 rows (Excel)" }).click(),
  ]);
  expect(instead.suggestedFilename()).toMatch(/-failed\.csv$/);
  await expect(page.getByText("so they are downloaded as CSV")).toBeVisible();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download as CSV" }).click(),
  ]);
  const failed = readFileSync(await download.path(), "utf8");
  expect(failed.trim().split("\n")).toHaveLength(11);
  await pick(page, "corrected.csv", failed.replaceAll("unknown", "33"));
  await expect(page.getByText("Attempt 2")).toBeVisible();
  await complete(page);
  expect([await figure(page, "Succeeded"), await figure(page, "Failed")]).toEqual(["1,000", "0"]);
  await expect(page.getByText("Every row succeeded.")).toBeVisible();

  await page.getByRole("link", { name: `See the records of ${dataset}` }).click();
  await expect(page.getByRole("region", { name: `Records of ${dataset}` }).locator("tbody tr")).toHaveCount(
    100,
  );
});

test("progress never decreases, and ends at 100 %", async ({ page }) => {
  await open(page);
  await pick(page, `${fresh("many")}.csv`, people(20_000, 1000));
  await start(page);
  const seen: number[][] = [];
  const bar = page.getByRole("progressbar", { name: "Progress" });
  const toNumber = (text: string | null) => Number((text ?? "").replace(/\D/g, ""));
  for (let ended = false; !ended; ) {
    const percent = Number(await bar.getAttribute("value"));
    const done = (await page.locator(".figures span").first().textContent())?.split(" of ")[0] ?? null;
    seen.push([
      percent,
      toNumber(done),
      toNumber(await figure(page, "Succeeded")),
      toNumber(await figure(page, "Failed")),
    ]);
    ended = await page.getByText("Job complete", { exact: true }).first().isVisible();
    await page.waitForTimeout(100);
  }
  for (const [at, now] of seen.entries()) {
    const before = seen[at - 1] ?? [];
    for (const [kind, value] of now.entries()) expect(value).toBeGreaterThanOrEqual(before[kind] ?? 0);
  }
  await expect(bar).toHaveAttribute("value", "100");
  expect(seen.length).toBeGreaterThan(3);
});

test("a checked file is imported without another upload", async ({ page }) => {
  const dataset = fresh("checked");
  await open(page);
  await pick(page, `${dataset}.csv`, people(20));
  await page.getByLabel("Check only").check();
  const check = await start(page);
  await complete(page);
  await page.getByRole("button", { name: "Start import" }).click();
  await expect(page).not.toHaveURL(new RegExp(check));
  await complete(page);
  await expect(page.getByRole("link", { name: "See the original check" })).toHaveAttribute("href", check);
  await page.getByRole("link", { name: `See the records of ${dataset}` }).click();
  await expect(page.getByRole("region", { name: `Records of ${dataset}` }).locator("tbody tr")).toHaveCount(
    20,
  );
});

test("rows that fail a check can be corrected after the import, not before", async ({ page }) => {
  const name = `${fresh("faulty")}.csv`;
  await open(page);
  await pick(page, name, people(30, 10));
  await pickSchema(page);
  await page.getByLabel("Check only").check();
  await start(page);
  await complete(page);
  expect([await figure(page, "Succeeded"), await figure(page, "Failed")]).toEqual(["27", "3"]);
  await expect(page.getByText("The 3 rows that failed will fail in the import too.")).toBeVisible();
  await expect(page.getByRole("region", { name: "Row by row" })).toBeVisible();
  await expect(page.getByText("Drop the corrected file here")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Retry failed rows" })).toHaveCount(0);

  const check = page.url();
  await page.getByRole("button", { name: "Start import" }).click();
  await expect(page).not.toHaveURL(check);
  await expect(page.getByRole("link", { name: "See the original check" })).toBeVisible();
  await expect(page.locator(".message")).toHaveText("Job complete");
  expect([await figure(page, "Succeeded"), await figure(page, "Failed")]).toEqual(["27", "3"]);
  await expect(page.getByText("Drop the corrected file here")).toBeVisible();
  await expect(page.getByRole("button", { name: "Retry failed rows" })).toBeVisible();

  await page.getByRole("link", { name: "Jobs" }).click();
  const rows = page.getByRole("row").filter({ hasText: name });
  await expect(rows).toHaveCount(2);
  await expect(rows.first()).not.toContainText("Check");
  await expect(rows.last()).toContainText("Check");
});

test("a retry with a lost reply is still followed", async ({ page }) => {
  await open(page);
  await pick(page, `${fresh("lost")}.csv`, people(20, 10));
  await pickSchema(page);
  await start(page);
  await complete(page);
  await page.route("**/api/jobs/*/retry", async (route) => {
    await route.fetch();
    await route.abort();
  });
  await page.getByRole("button", { name: "Retry failed rows" }).click();
  await expect(page.getByText("Attempt 2")).toBeVisible();
  await complete(page);
});

test("a Node script imports a file with the client", async () => {
  const { apiUrl, users } = stack();
  const file = join(mkdtempSync(join(tmpdir(), "longshore-")), "people.csv");
  writeFileSync(file, people(500));
  const env = { ...process.env, LONGSHORE_API_URL: apiUrl, LONGSHORE_TOKEN: users[0]?.token ?? "" };
  const { stdout } = await promisify(execFile)(process.execPath, [EXAMPLE, file], { env });
  expect(stdout).toContain("completed");
  expect(stdout).toMatch(/\b500\b/);
});
