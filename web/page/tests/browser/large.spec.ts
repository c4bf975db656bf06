/** A file of 200 MB: shown by a sample, uploaded in parts, interrupted, and resumed after a reload. */

import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { complete, figure, fresh, open, start } from "./support";

const SIZE = 200_000_000;
/** Rows of a kilobyte, so that the upload takes the time. */
const ROW_BYTES = 1_000;
/** The API's part size for this file. */
const PART_BYTES = 16 * 1024 * 1024;
const PARTS = Math.ceil(SIZE / PART_BYTES);
const FIRST_HELD_PART = 6;

function largeFile(path: string): void {
  const file = openSync(path, "w");
  const header = `id,name,${"x".repeat(ROW_BYTES - 9)}\n`;
  writeSync(file, header);
  for (let row = 1; row < SIZE / ROW_BYTES; ) {
    const rows = Array.from({ length: 1000 }, () => row++).filter((number) => number < SIZE / ROW_BYTES);
    writeSync(
      file,
      rows
        .map((number) => `${number},${"n".repeat(ROW_BYTES - 3)}`.slice(0, ROW_BYTES - 2))
        .map((text) => `${text},\n`)
        .join(""),
    );
  }
  closeSync(file);
}

test("a large file is shown at once, uploaded in parts, interrupted, and resumed after a reload", async ({
  page,
}) => {
  const folder = mkdtempSync(join(tmpdir(), "longshore-"));
  const path = join(folder, `${fresh("large")}.csv`);
  try {
    largeFile(path);
    expect(statSync(path).size).toBe(SIZE);
    const sent: number[] = [];
    let samples = 0;
    /** The number of a part; 0 for a sample, which is sent as a whole. */
    const part = (url: string) => Number(new URL(url).searchParams.get("partNumber"));
    page.on("response", (response) => {
      if (response.request().method() !== "PUT" || !response.ok()) return;
      if (part(response.url()) === 0) samples++;
      else sent.push(part(response.url()));
    });
    await open(page);

    // Parts from the sixth on get no response until the reload. The route remains: a request that is sent while a route
    // is removed may get no response.
    let held = true;
    const isHeld = (url: URL) => part(url.href) >= FIRST_HELD_PART;
    await page.route(isHeld, (route) => (held ? new Promise(() => {}) : route.continue()));
    await page.locator("main input[type=file]").first().setInputFiles(path);
    await expect(page.getByRole("button", { name: /^Start/ })).toBeEnabled();
    await expect(page.getByRole("region", { name: "The first rows of the file" })).toContainText("nnn");
    await expect.poll(() => sent.length, { timeout: 120_000 }).toBe(FIRST_HELD_PART - 1);
    await page.reload();
    held = false;

    expect(samples).toBe(1);
    const before = sent.splice(0);
    await page.locator("main input[type=file]").first().setInputFiles(path);
    await page.getByText("Check only").click();
    await start(page);
    await complete(page);
    expect(before.sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5]);
    expect(sent.sort((a, b) => a - b)).toEqual(
      Array.from({ length: PARTS - FIRST_HELD_PART + 1 }, (_, at) => FIRST_HELD_PART + at),
    );
    expect(await figure(page, "Succeeded")).toBe("199,999");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
