/** Files that are converted before they are read: workbooks and compressed files. */

import { expect, test } from "@playwright/test";
import type { Failure } from "longshore-client";
import { fakeJob, mockJob, mockResult } from "./mocks";
import {
  accessible,
  complete,
  corpus,
  figure,
  fresh,
  open,
  people,
  pick,
  pickSchema,
  preview,
  records,
  start,
} from "./support";

test("a sheet of a workbook is chosen", async ({ page }) => {
  const dataset = fresh("sheets");
  await open(page);
  await pick(page, `${dataset}.xlsx`, corpus("workbooks/several-sheets.xlsx"));
  await expect(page.getByText('Workbook, sheet "Cover"')).toBeVisible();
  await page.getByText("Change how the file is read", { exact: true }).click();
  await expect(page.getByLabel("Sheet", { exact: true }).locator("option")).toHaveText([
    /^Found: Cover|^Find/,
    "Cover",
    "Data 2024",
    "Lists (hidden)",
  ]);
  await page.getByLabel("Sheet", { exact: true }).selectOption("Data 2024");
  await expect(page.getByText('Workbook, sheet "Data 2024" · Header in row 1 · 4 columns')).toBeVisible();
  await expect(preview(page).locator("thead")).toHaveText(/^Row in sheetidnamecityzip$/);
  await expect(preview(page).locator("tbody tr").first()).toHaveText("21AnnCork01067");
  await accessible(page, "workbook");
  const [request] = await Promise.all([page.waitForRequest("**/api/jobs"), start(page)]);
  expect(request.postDataJSON().reading.sheet).toBe("Data 2024");
  await complete(page);
  await expect(page.getByText('· Workbook, sheet "Data 2024"')).toBeVisible();
  expect(await figure(page, "Succeeded")).toBe("3");
  await expect((await records(page, dataset)).locator("tbody tr")).toHaveCount(3);
});

test("a workbook that is not of the failed rows is refused before the job is retried", async ({ page }) => {
  await open(page);
  await pick(page, `${fresh("wrong")}.csv`, people(20, 10));
  await pickSchema(page);
  await start(page);
  await complete(page);
  await pick(page, "wrong.xlsx", corpus("workbooks/several-sheets.xlsx"));
  await expect(page.getByText(/The first row of the sheet "Cover" has no column "row"/)).toBeVisible();
  await expect(page.getByText("Attempt 2")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Download 2 rows (Excel)" })).toBeVisible();
});

test("a compressed file is shown and imported like the file in it", async ({ page }) => {
  const dataset = fresh("compressed");
  await open(page);
  await pick(page, `${dataset}.csv.gz`, corpus("archives/plain.csv.gz"));
  await expect(page.getByText("Compressed with gzip · CSV, columns separated by commas")).toBeVisible();
  await expect(preview(page).locator("tbody tr")).toHaveText(["11AnnCork", "22BobGalway", "33EveSligo"]);
  await expect(page.getByLabel("Dataset")).toHaveValue(dataset);
  await start(page);
  await complete(page);
  await expect(page.getByText("· Compressed with gzip")).toBeVisible();
  expect(await figure(page, "Succeeded")).toBe("3");
  const rows = (await records(page, dataset)).locator("tbody tr");
  await expect(rows).toHaveCount(3);
  for (const city of ["Cork", "Galway", "Sligo"]) await expect(rows.filter({ hasText: city })).toHaveCount(1);
});

test("a job whose file is converted shows the bytes, and afterwards the sheet and the rows", async ({
  page,
}) => {
  const job = fakeJob(1, {
    fileName: "people.xlsx",
    source: { kind: "file", name: "people.xlsx", sizeBytes: 24_000_000 },
    status: "running",
    stage: "splitting",
    preparation: { readBytes: 9_600_000, sizeBytes: 24_000_000 },
    percent: 4,
    itemCount: 0,
    itemCountFinal: false,
    itemProgress: 0,
    itemsPerSecond: 0,
    counts: { succeeded: 0, failed: 0, skipped: 0, pending: 0 },
    finishedAt: null,
  });
  await mockJob(page, job);
  await open(page, `/jobs/${job.jobId}`);
  await expect(page.getByText("Converting the file, 4% complete...")).toBeVisible();
  await expect(page.getByText("9.6 MB of 24 MB converted")).toBeVisible();
  await accessible(page, "converting");
  await mockJob(page, {
    ...job,
    source: {
      kind: "file",
      name: "people.xlsx",
      sizeBytes: 24_000_000,
      prepared: { form: "workbook", sheet: "Data 2024" },
    },
    preparation: null,
    itemCount: 1_000,
  });
  await expect(page.getByText("0 of 1,000 counted so far")).toBeVisible();
  await expect(page.getByText('24 MB · Workbook, sheet "Data 2024"')).toBeVisible();
});

test("the failed rows of a workbook have their rows in the sheet", async ({ page }) => {
  const job = fakeJob(1, {
    fileName: "people.xlsx",
    counts: { succeeded: 98, failed: 2, skipped: 0, pending: 0 },
  });
  const failure = (number: number, sheetRow: number): Failure => ({
    number,
    sheetRow,
    code: "schema_type",
    field: "age",
    message: "age must be an integer",
    row: { id: String(number), name: `Person ${number}`, age: "unknown" },
  });
  await mockJob(page, job);
  await mockResult(page, job.jobId, { failures: [failure(20, 24), failure(40, 47)] });
  await open(page, `/jobs/${job.jobId}`);
  const rows = page.getByRole("region", { name: "Row by row" });
  await expect(rows.getByRole("columnheader")).toHaveText([
    "Row",
    "Row in sheet",
    "Column",
    "Value",
    "Reason",
  ]);
  await expect(rows.getByRole("row").nth(2)).toHaveText(/^4047ageunknown/);
  await expect(page.getByText("Row 20 (row 24 in sheet): unknown")).toBeVisible();
  await expect(page.getByLabel("or choose it")).toHaveAttribute("accept", /\.xlsx,\.xlsm,\.gz,\.zst,\.zip$/);
  await accessible(page, "workbook-failures");
});
