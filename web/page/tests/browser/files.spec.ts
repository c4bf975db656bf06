/** What is said of a file before anything is started. */

import { expect, test } from "@playwright/test";
import { complete, fresh, open, people, pick, pickSchema, start } from "./support";

test("a file that is no text is refused with the way out", async ({ page }) => {
  await open(page);
  for (const [name, content, said] of [
    ["people.xlsx", Buffer.from("PK\x03\x04[Content_Types].xml"), "This is a workbook. Save it as"],
    ["people.csv", Buffer.from([0xff, 0xfe, 0x69, 0, 0x64, 0]), "This file is not in UTF-8"],
    ["people.csv", Buffer.from(""), "This file is empty."],
    ["people.docx", Buffer.from("id,name\n"), "This is no CSV or JSON Lines file"],
  ] as const) {
    await pick(page, name, content);
    await expect(page.getByRole("alert")).toContainText(said);
    await expect(page.getByRole("button", { name: /^Start/ })).toHaveCount(0);
  }
});

test("what would fail every row is said at once, and cannot be started", async ({ page }) => {
  await open(page);
  await pick(page, "people.csv", people(3).replaceAll(",", ";"));
  await expect(page.getByText("The columns are separated by semicolons.")).toBeVisible();
  await expect(page.getByRole("button", { name: /^Start/ })).toBeDisabled();
  await page.getByRole("button", { name: "Remove this file" }).click();

  await pick(page, "people.csv", people(3).replace("age", "shoe size"));
  await pickSchema(page);
  await expect(page.getByText('"age" is required, and no column is mapped to it.')).toBeVisible();
  await expect(page.getByRole("button", { name: /^Start/ })).toBeDisabled();
  await page.getByLabel("Column for age").selectOption("shoe size");
  await expect(page.getByRole("button", { name: /^Start/ })).toBeEnabled();
  await page.getByRole("button", { name: "Remove this file" }).click();

  await pick(page, "people.csv", people(30, 1));
  await pickSchema(page);
  await expect(page.getByText('"age" fails in each of the first 30 rows')).toBeVisible();
  await expect(page.getByRole("button", { name: /^Start/ })).toBeEnabled();
});

test("columns are imported under the names of the fields that they are mapped to", async ({ page }) => {
  const dataset = fresh("mapped");
  await open(page);
  await pick(page, `${dataset}.csv`, people(10).replace("id,name,age", "Id,Full name,Years"));
  await pickSchema(page);
  await expect(page.getByLabel("Column for id")).toHaveValue("Id");
  await expect(page.getByLabel("Column for name")).toHaveValue("Full name");
  const preview = page.getByRole("region", { name: "The first rows of the file" });
  await expect(preview.locator("thead")).toHaveText(/Id.*imported as id.*Full name.*imported as name.*Years/);
  await page.getByLabel("Column for age").selectOption("Years");
  await start(page);
  await complete(page);
  await page.getByRole("link", { name: `See the records of ${dataset}` }).click();
  const records = page.getByRole("region", { name: `Records of ${dataset}` });
  await expect(records.locator("thead")).toHaveText(/Key.*age.*id.*name.*Written/);
  await expect(records.locator("tbody tr")).toHaveCount(10);
});
