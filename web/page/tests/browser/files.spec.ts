/** Checks of a picked file before the start. */

import { expect, test } from "@playwright/test";
import { accessible, complete, fresh, open, people, pick, pickSchema, start, WIDTHS } from "./support";

test("a file that is not text is refused with a solution", async ({ page }) => {
  await open(page);
  for (const [name, content, message] of [
    ["people.xlsx", Buffer.from("PK\x03\x04[Content_Types].xml"), "This is a workbook. Save it as"],
    ["people.csv", Buffer.from([0xff, 0xfe, 0x69, 0, 0x64, 0]), "This file is not encoded in UTF-8"],
    ["people.csv", Buffer.from(""), "This file is empty."],
    ["people.docx", Buffer.from("id,name\n"), "This is not a CSV or JSON Lines file"],
  ] as const) {
    await pick(page, name, content);
    await expect(page.getByRole("alert")).toContainText(message);
    await expect(page.getByRole("button", { name: /^Start/ })).toHaveCount(0);
  }
});

test("problems that fail every row are shown at once, and block the start", async ({ page }) => {
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

for (const width of WIDTHS) {
  test(`the focus ring of a picked file leaves the line below it readable, ${width} pixels wide`, async ({
    page,
  }) => {
    await page.setViewportSize({ width, height: 900 });
    await open(page);
    await pick(page, `${"long-name-".repeat(8)}.csv`, people(3));
    const heading = page.locator("#file-title");
    await expect(heading).toBeFocused();
    const { style, ringEnd, nextLine } = await heading.evaluate((it) => {
      const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(it);
      const ring = Number.parseFloat(outlineWidth) + Number.parseFloat(outlineOffset);
      return {
        style: outlineStyle,
        ringEnd: it.getBoundingClientRect().bottom + ring,
        nextLine: it.nextElementSibling?.getBoundingClientRect().top ?? 0,
      };
    });
    expect(style).toBe("solid");
    expect(ringEnd).toBeLessThanOrEqual(nextLine);
  });
}

test("a preview wider than a phone has a scroll hint, and scrolls by keyboard", async ({ page }) => {
  const columns = ["id", "first_name", "family_name", "postal_address", "telephone_number"];
  await page.setViewportSize({ width: 320, height: 900 });
  await open(page);
  await pick(page, "wide.csv", `${columns.join(",")}\n1,Ann,Smith,1 Long Street,555\n`);
  const region = page.getByRole("region", { name: "The first rows of the file" });
  const hint = page.getByText("Scroll this table sideways to see all columns.");
  await expect(hint).toBeInViewport();
  await expect(region).toHaveAccessibleDescription((await hint.textContent()) ?? "");
  const [hintBox, tableBox] = [await hint.boundingBox(), await region.boundingBox()];
  expect((hintBox?.y ?? 0) + (hintBox?.height ?? 0)).toBeLessThanOrEqual(tableBox?.y ?? 0);
  await region.focus();
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => region.evaluate((it) => it.scrollLeft)).toBeGreaterThan(0);
  await accessible(page, "wide-preview");
  await page.setViewportSize({ width: 1440, height: 900 });
  await expect(hint).toHaveCount(0);
});

test("columns are imported with the names of their mapped fields", async ({ page }) => {
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
