/** The undo of an import: its numbers before it runs, and the records afterwards. */

import { expect, test } from "@playwright/test";
import { accessible, complete, fresh, open, people, pick, start } from "./support";

/** Longer than the time after an import in which one of its workers may still write. */
const PATIENCE_MS = 240_000;

test("an import is undone after its numbers were shown", async ({ page }) => {
  test.setTimeout(2 * PATIENCE_MS);
  const dataset = fresh("undone");
  await open(page);
  await pick(page, `${dataset}.csv`, people(10));
  await start(page);
  await complete(page);
  await page.getByRole("link", { name: "Import" }).click();
  await pick(page, `${dataset}.csv`, people(15));
  const job = await start(page);
  await complete(page);

  const previews: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST" && request.url().endsWith("/undo"))
      previews.push(request.postData() ?? "");
  });
  await page.getByRole("button", { name: "Undo this import" }).click();
  const dialog = page.getByRole("dialog", { name: "Undo this import?" });
  await expect(dialog.getByText("The import wrote 15 rows")).toBeVisible();
  await expect(dialog.getByText("15 rows: their records will be as before the import")).toBeVisible();
  await accessible(page, "undo");
  expect(previews).toEqual(['{"mode":"validate"}']);
  await dialog.getByRole("button", { name: "Keep the import" }).click();
  await expect(dialog).toHaveCount(0);
  expect(previews).toHaveLength(1);

  await page.getByRole("button", { name: "Undo this import" }).click();
  const undo = dialog.getByRole("button", { name: "Undo import" });
  await undo.click();
  await expect(dialog.getByRole("timer")).toHaveText(/^In \d+ seconds?$/);
  await expect(undo).toBeDisabled();
  await page.waitForURL((url) => url.pathname !== job, { timeout: PATIENCE_MS });
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(`Undo of ${dataset}.csv`);
  // The view of the import follows its undo to the end.
  await page.getByRole("link", { name: "See the import" }).click();
  await expect(page.getByRole("link", { name: "See its undo" })).toBeVisible();
  await expect(page.getByText("This import was undone.")).toBeVisible();
  await expect(page.getByText("Every row succeeded.")).toHaveCount(0);
  await page.getByRole("button", { name: "Delete" }).click();
  const deletion = page.getByRole("dialog", { name: "Delete this job?" });
  await expect(deletion.getByText("Imported records remain")).toBeVisible();
  await deletion.getByRole("button", { name: "Keep it" }).click();
  await page.goto(new URL(`/datasets/${dataset}`, page.url()).href);
  await expect(page.getByRole("row")).toHaveCount(11);
});
