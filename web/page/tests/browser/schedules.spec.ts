/** Schedules: created, with their next times, run now, changed and deleted. */

import { expect, type Page, test } from "@playwright/test";
import { accessible, complete, fresh, open, people, pick, start } from "./support";

/** Imports a dataset, and returns its name. */
async function dataset(page: Page): Promise<string> {
  const name = fresh("scheduled");
  await open(page);
  await pick(page, `${name}.csv`, people(3));
  await page.getByRole("combobox", { name: "Dataset" }).fill(name);
  await start(page);
  await complete(page);
  return name;
}

test("a schedule of an export is created, run, changed and deleted", async ({ page }) => {
  const name = await dataset(page);
  await page.getByRole("link", { name: "Schedules" }).click();
  await page.getByLabel("Name").fill(name);
  await page.getByRole("textbox", { name: "Cron pattern" }).fill("30 2 * * *");
  await page.getByLabel("Time zone").fill("Europe/Berlin");
  await page.getByRole("combobox", { name: "Dataset" }).fill(name);
  await page.getByLabel("Format").selectOption("csv");
  await page.getByRole("button", { name: "Create schedule" }).click();
  const row = page.getByRole("row").filter({ hasText: name });
  await expect(row).toContainText("30 2 * * * (Europe/Berlin)");
  await accessible(page, "schedules");
  await row.getByRole("link").click();
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
  const times = page.getByRole("region", { name: "The next five times" }).getByRole("row");
  await expect(times).toHaveCount(6);
  await expect(times.nth(1)).toContainText("02:30");
  await expect(page.getByText("No occurrences yet.")).toBeVisible();
  await page.getByRole("button", { name: "Run now" }).click();
  await expect(page.getByText("The job was started.")).toBeVisible();
  await expect(page.getByRole("row").filter({ hasText: "Started" })).toBeVisible();
  await accessible(page, "schedule");
  await page.getByRole("checkbox", { name: "Paused" }).check();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("The schedule is paused.")).toBeVisible();
  await page.getByRole("button", { name: "Delete schedule" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete schedule" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Schedules" })).toBeVisible();
  await expect(page.getByText(name)).toHaveCount(0);
});

test("every error of a schedule is shown, and nothing is created", async ({ page }) => {
  const name = fresh("wrong");
  await open(page, "/schedules");
  await page.getByLabel("Name").fill(name);
  await page.getByRole("textbox", { name: "Cron pattern" }).fill("* * * * *");
  await page.getByRole("combobox", { name: "Dataset" }).fill("none");
  await page.getByRole("button", { name: "Create schedule" }).click();
  await expect(page.getByRole("alert")).toContainText("5 minutes");
  await page.getByRole("radio", { name: "At a fixed interval" }).check();
  await page.getByRole("button", { name: "Create schedule" }).click();
  await expect(page.getByRole("alert")).toContainText("no import has written to this dataset");
  await page.getByRole("radio", { name: "Another job" }).check();
  await page.getByLabel("The job as JSON").fill("[");
  await page.getByRole("button", { name: "Create schedule" }).click();
  await expect(page.getByRole("alert")).toContainText("not a JSON object");
  await expect(page.getByRole("row").filter({ hasText: name })).toHaveCount(0);
});
