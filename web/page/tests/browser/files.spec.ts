/** What is found in a picked file before the start, and how a user changes it. */

import { expect, test } from "@playwright/test";
import {
  accessible,
  complete,
  corpus,
  fresh,
  open,
  people,
  pick,
  pickSchema,
  preview,
  records,
  start,
  startButton,
  WIDTHS,
} from "./support";

test("a file of another type is refused with a solution", async ({ page }) => {
  await open(page);
  for (const [name, content, message] of [
    ["people.csv", "", "This file is empty."],
    ["people.docx", "id,name\n", "This type of file cannot be read."],
    ["people.pdf", "%PDF-1.7", "Export the table as CSV"],
    ["people.xls", "id,name\n", "Save other workbooks as .xlsx."],
  ] as const) {
    await pick(page, name, content);
    await expect(page.getByRole("alert")).toContainText(message);
    await expect(startButton(page)).toHaveCount(0);
  }
});

test("a file that is no table says so, and cannot be started", async ({ page }) => {
  await open(page);
  for (const [content, message] of [
    ["%PDF-1.7", "PDF"],
    ["<!doctype html><table></table>", "The file is a web page (HTML), not a table."],
    ["\n\n", "The file is empty."],
  ] as const) {
    await pick(page, "people.csv", content);
    const findings = page.getByRole("status").filter({ hasText: "The import would fail" });
    await expect(findings).toContainText(message);
    await expect(startButton(page)).toBeDisabled();
    await page.getByRole("button", { name: "Remove this file" }).click();
  }
});

test("problems that fail every row are shown at once, and block the start", async ({ page }) => {
  await open(page);
  await pick(page, "people.csv", people(3).replace("age", "shoe size"));
  await pickSchema(page);
  await expect(page.getByText("A column that the schema requires is not in the file")).toBeVisible();
  await expect(startButton(page)).toBeDisabled();
  await page.getByLabel("Column for age").selectOption("shoe size");
  await expect(startButton(page)).toBeEnabled();
  await page.getByRole("button", { name: "Remove this file" }).click();

  await pick(page, "people.csv", people(30, 1));
  await pickSchema(page);
  await expect(page.getByText("Each of the first 30 rows would fail")).toBeVisible();
  await expect(page.getByText('"age" has the wrong type (30 rows)')).toBeVisible();
  await expect(startButton(page)).toBeEnabled();
});

test("rows that would fail are shown with their numbers and reasons", async ({ page }) => {
  await open(page);
  await pick(page, "people.csv", people(40, 20));
  await pickSchema(page);
  await expect(page.getByText("2 of the first 40 rows would fail")).toBeVisible();
  const rows = preview(page).locator("tbody tr");
  await expect(rows).toHaveCount(7);
  await expect(rows.nth(5)).toContainText(/^20"age" has the wrong type.*Person 20unknown$/);
  await page.getByRole("button", { name: "Show the first 40 rows" }).click();
  await expect(rows).toHaveCount(40);
});

test("a German file is found as it is written, and imported with its values", async ({ page }) => {
  const dataset = fresh("lexware");
  const schema = {
    properties: {
      Kundennummer: { type: "string" },
      "Umsatz 2023": { type: "number" },
      Aktiv: { type: "boolean" },
      "Letzter Kauf": { type: "string", format: "date" },
    },
  };
  await open(page);
  await pick(page, `${dataset}.csv`, corpus("crm/lexware.csv"));
  await expect(page.getByText("CSV, columns separated by semicolons · windows-1252")).toBeVisible();
  await expect(preview(page)).toContainText("Bäckerei Ährlich");
  await pickSchema(page, JSON.stringify(schema));
  await expect(page.getByText('numbers with a decimal comma: "Umsatz 2023"')).toBeVisible();
  await accessible(page, "german-file");
  const [request] = await Promise.all([page.waitForRequest("**/api/jobs"), start(page)]);
  expect(request.postDataJSON().reading).toMatchObject({ encoding: "windows-1252", delimiter: ";" });
  await complete(page);
  const table = await records(page, dataset);
  await expect(table.getByRole("row").filter({ hasText: "000123" })).toContainText(
    /true.*Bäckerei Ährlich.*000123.*2023-12-24.*2,5.*12345\.6/,
  );
  await expect(table.getByRole("row").filter({ hasText: "Café Zürich" })).toContainText("2023-02-01");
});

test("a file is read again when the user says how it is written", async ({ page }) => {
  const dataset = fresh("reading");
  await open(page);
  await pick(page, `${dataset}.csv`, "1;Ann,Bob\n2;Cem,Dan\n");
  // Two separators fit, so the fields are shown at once.
  await page.getByLabel("Separator of columns").selectOption("semicolons");
  await page.getByLabel("Header row").selectOption("None");
  await expect(preview(page).locator("thead")).toHaveText(/column_1column_2$/);
  await expect(preview(page).locator("tbody tr")).toHaveText(["11Ann,Bob", "22Cem,Dan"]);
  await expect(page.getByText("No header row · 2 columns")).toBeVisible();
  await page.getByText("Choose columns to leave out").click();
  await expect(page.getByRole("checkbox", { name: "column_1" })).toBeDisabled();
  await page.getByRole("checkbox", { name: "column_2" }).uncheck();
  await expect(preview(page).locator("thead")).toHaveText(/column_2left out$/);
  const [request] = await Promise.all([page.waitForRequest("**/api/jobs"), start(page)]);
  const { reading, options } = request.postDataJSON();
  expect(reading).toMatchObject({ delimiter: ";", headerRow: 0 });
  expect(options).toMatchObject({ key: "column_1", columns: { column_2: null } });
  await complete(page);
  await expect((await records(page, dataset)).locator("thead")).toHaveText(/^Keycolumn_1Written$/);
});

test("an inspection that is refused for a moment is repeated, and one that fails can be", async ({
  page,
}) => {
  const refuse = (status: number, kind: string, headers = {}) =>
    page.route(
      "**/inspect",
      (route) =>
        route.fulfill({
          status,
          headers: { "content-type": "application/problem+json", ...headers },
          body: JSON.stringify({
            type: `/api/problems/${kind}`,
            title: kind,
            status,
            requestId: "request-7",
          }),
        }),
      { times: 1 },
    );
  await open(page);
  await refuse(429, "rate-limited", { "retry-after": "3" });
  await pick(page, "people.csv", people(3));
  await expect(page.getByRole("alert")).toContainText("Too many requests");
  await expect(startButton(page)).toBeEnabled();
  await expect(page.getByRole("alert")).toHaveCount(0);
  await refuse(500, "internal");
  await page.getByRole("radio", { name: /^Check only/ }).check();
  await expect(page.getByRole("alert")).toContainText("Request request-7");
  await expect(preview(page)).toContainText("Person 1");
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("alert")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Start check" })).toBeEnabled();
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
  const region = preview(page);
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
  await expect(preview(page).locator("thead")).toHaveText(
    /Id.*imported as id.*Full name.*imported as name.*Years/,
  );
  await page.getByLabel("Column for age").selectOption("Years");
  await start(page);
  await complete(page);
  await page.getByRole("link", { name: `See the records of ${dataset}` }).click();
  const records = page.getByRole("region", { name: `Records of ${dataset}` });
  await expect(records.locator("thead")).toHaveText(/Key.*age.*id.*name.*Written/);
  await expect(records.locator("tbody tr")).toHaveCount(10);
});

test("a second file is matched as the first one was, unless the user wants it by name", async ({ page }) => {
  const dataset = fresh("kunden");
  const text = { type: "string" };
  const remark = page.getByLabel("Column for remark");
  const key = page.getByRole("combobox", { name: /^Key/ });
  const notice = page.getByText(`Columns are matched as in the last import or export of ${dataset}.`);
  await open(page);
  await pick(page, `${dataset}.csv`, "E-Mail;Name;Notiz\nann@example.com;Ann;neu\n");
  await pickSchema(page, JSON.stringify({ properties: { mail: text, name: text, remark: text } }));
  await expect(notice).toHaveCount(0);
  await remark.selectOption("Notiz");
  await key.selectOption("Name");
  const [first] = await Promise.all([page.waitForRequest("**/api/jobs"), start(page)]);
  const { columns } = first.postDataJSON().options;
  expect(columns).toEqual({ "E-Mail": "mail", Name: "name", Notiz: "remark" });
  await complete(page);

  await page.getByRole("link", { name: "Import" }).click();
  await pick(page, `${dataset}.csv`, "E-Mail;Name;Notiz\njoerg@example.com;Jörg;geändert\n");
  await expect(notice).toBeVisible();
  await expect(remark).toHaveValue("Notiz");
  await expect(key).toHaveValue("Name");
  await accessible(page, "preset");
  await page.getByRole("button", { name: "Match by name instead" }).click();
  await expect(page.getByText("Columns are matched by name.")).toBeVisible();
  await expect(page.getByLabel("Column for mail")).toHaveValue("E-Mail");
  await expect(remark).toHaveValue("");
  await expect(key).toHaveValue("E-Mail");
  await page.getByRole("button", { name: "Match as before" }).click();
  await expect(notice).toBeVisible();
  // Also without a schema, columns have the same properties.
  await page.getByRole("button", { name: "Remove the schema" }).click();
  await expect(preview(page).locator("thead")).toHaveText(
    /imported as mail.*imported as name.*imported as remark/,
  );
  const [second] = await Promise.all([page.waitForRequest("**/api/jobs"), start(page)]);
  expect(second.postDataJSON().options).toMatchObject({ dataset, key: "name", columns });
  await complete(page);
  await expect(await records(page, dataset)).toContainText(/joerg@example\.com.*Jörg.*geändert/);
});
