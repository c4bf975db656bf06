/** Exports: the form on a dataset, the progress, and the downloaded file. */

import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { expect, type Page, test } from "@playwright/test";
import { complete, fresh, open, people, pick, start } from "./support";

/** Imports people, and opens the export form of their dataset. */
async function openForm(page: Page, dataset: string): Promise<void> {
  await open(page);
  await pick(page, `${dataset}.csv`, people(12));
  await start(page);
  await complete(page);
  await page.getByRole("link", { name: `See the records of ${dataset}` }).click();
  const button = page.getByRole("button", { name: "Export", exact: true });
  await expect(button).toHaveAttribute("aria-expanded", "false");
  await button.click();
  await expect(page.getByRole("heading", { name: `Export ${dataset}` })).toBeVisible();
}

/** Starts the export, waits for its end, and returns the file. */
async function exported(page: Page, dataset: string): Promise<Buffer> {
  await page.getByRole("button", { name: "Start export" }).click();
  await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/);
  await expect(page.getByRole("heading", { name: `Export of ${dataset}` })).toBeVisible();
  await complete(page);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download 12 records" }).click();
  const file = await download;
  const bytes = await readFile(await file.path());
  await file.delete();
  return bytes;
}

test("a dataset is exported as CSV with chosen and renamed columns", async ({ page }) => {
  const dataset = fresh("export-csv");
  await openForm(page, dataset);
  await page.getByLabel("Delimiter").selectOption("Semicolon");
  await page.getByText("All 3 columns").click();
  await page.getByRole("checkbox", { name: "age" }).uncheck();
  await page.getByLabel("Name of name in the file").fill("Full name");
  await expect(page.getByText("2 of 3 columns")).toBeVisible();
  const file = await exported(page, dataset);
  const [header, first] = file.toString("utf8").split("\r\n");
  expect([header, first]).toEqual(["id;Full name", "1;Person 1"]);
});

test("an export cannot start without columns, or with two columns of one name", async ({ page }) => {
  const dataset = fresh("export-none");
  await openForm(page, dataset);
  await page.getByText("All 3 columns").click();
  const button = page.getByRole("button", { name: "Start export" });
  for (const name of ["id", "name", "age"]) await page.getByRole("checkbox", { name }).uncheck();
  await expect(page.getByText("Choose at least one column.")).toBeVisible();
  await expect(button).toBeDisabled();
  await page.getByRole("checkbox", { name: "id" }).check();
  await expect(button).toBeEnabled();
  await page.getByRole("checkbox", { name: "age" }).check();
  await page.getByLabel("Name of age in the file").fill("id");
  await expect(page.getByText('Two columns have the name "id" in the file.')).toBeVisible();
  await expect(button).toBeDisabled();
});

test("a dataset is exported as compressed JSON Lines", async ({ page }) => {
  const dataset = fresh("export-lines");
  await openForm(page, dataset);
  await page.getByRole("radio", { name: /^JSON Lines/ }).check();
  await expect(page.getByLabel("Delimiter")).toHaveCount(0);
  await page.getByRole("checkbox", { name: /^Compress with gzip/ }).check();
  const file = await exported(page, dataset);
  const lines = gunzipSync(file).toString("utf8").trim().split("\n");
  expect(lines).toHaveLength(12);
  expect(JSON.parse(lines[0] ?? "")).toEqual({ id: "1", name: "Person 1", age: "20" });
});
