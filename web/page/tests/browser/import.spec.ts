/** An import from a dropped file to corrected rows. */

import { readFileSync } from "node:fs";
import { expect, test } from "@playwright/test";
import { complete, figure, fresh, open, people, pick, pickSchema, start } from "./support";

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

  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download 10 rows" }).click(),
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
