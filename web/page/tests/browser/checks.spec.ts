/** Checks of a file with invalid rows, and imports started from them. */

import { expect, test } from "@playwright/test";
import { complete, figure, fresh, open, people, pick, pickSchema, start } from "./support";

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
