/** Shared helpers: the local stack, its user, files, steps through the page, and the checks that every view passes. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import AxeBuilder from "@axe-core/playwright";
import { expect, type Locator, type Page } from "@playwright/test";

interface State {
  apiUrl: string;
  webUrl: string;
  users: { name: string; password: string; token: string }[];
  /** ARN of the example handler. */
  exampleHandler: string;
}

const STATE = new URL("../../../../.longshore/local.json", import.meta.url);

/** Returns the state of the local stack, which `cargo xtask up` has started. */
export function stack(): State {
  try {
    return JSON.parse(readFileSync(process.env.LONGSHORE_STATE ?? STATE, "utf8")) as State;
  } catch {
    throw new Error("The local stack is not running: start it with `cargo xtask up`.");
  }
}

/** Returns the path of a screenshot, for review by people. */
function picture(name: string): string {
  return fileURLToPath(new URL(`screenshots/${name}`, STATE));
}

/** Opens a path of the page as the first user, or as the one with this name. */
export async function open(page: Page, path = "/", name?: string): Promise<void> {
  await page.goto(stack().webUrl + path);
  await signIn(page, name);
}

/** Signs in on the sign-in page and returns to the page. */
export async function signIn(page: Page, name?: string): Promise<void> {
  const { webUrl, users } = stack();
  const user = users.find((user) => name === undefined || user.name === name);
  if (!user) throw new Error(`The local stack has no user ${name ?? ""}.`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL((url) => url.origin !== webUrl);
  await page.locator("input[name=username]").fill(user.name);
  await page.locator("input[name=password]").fill(user.password);
  await page.locator("button[type=submit], input[type=submit]").first().click();
  await expect(page.getByRole("button", { name: "Sign out" })).toBeVisible();
}

/** Returns a name that no other test uses. */
export function fresh(stem: string): string {
  return `${stem}-${Date.now().toString(36)}${Math.floor(Math.random() * 1e6).toString(36)}`;
}

/** Returns a CSV file; in every `bad`th row the age is not a number. */
export function people(rows: number, bad = 0): string {
  const lines = Array.from({ length: rows }, (_, at) => {
    const age = bad > 0 && (at + 1) % bad === 0 ? "unknown" : String(20 + (at % 60));
    return `${at + 1},Person ${at + 1},${age}`;
  });
  return ["id,name,age", ...lines, ""].join("\n");
}

/** Returns a file of more than 5 MB with this number of rows, so that the page inspects a sample of it. */
export function largePeople(rows: number): string {
  const note = "x".repeat(Math.ceil(5_500_000 / rows));
  const lines = people(rows).trimEnd().split("\n");
  return lines.map((line, at) => `${line},${at === 0 ? "note" : note}\n`).join("");
}

/** Returns a file that another program has written, by its name in `tests/files/corpus.json`. */
export function corpus(name: string): Buffer {
  return readFileSync(new URL(name, new URL("../../../../tests/files/", import.meta.url)));
}

/** The schema of `people`. */
export const SCHEMA = JSON.stringify({
  type: "object",
  required: ["id", "name", "age"],
  properties: { id: { type: "string" }, name: { type: "string" }, age: { type: "integer", minimum: 0 } },
});

/** A schema for `values/dates-ambiguous.csv`. */
export const DATES = JSON.stringify({
  properties: { id: { type: "string" }, date: { type: "string", format: "date" } },
});

/** Picks a file. */
export async function pick(page: Page, name: string, content: string | Buffer): Promise<void> {
  const buffer = Buffer.from(content);
  await page.locator("main input[type=file]").first().setInputFiles({ name, mimeType: "text/csv", buffer });
}

/** Picks a schema for the file. */
export async function pickSchema(page: Page, schema = SCHEMA): Promise<void> {
  const file = { name: "people.schema.json", mimeType: "application/json", buffer: Buffer.from(schema) };
  await page.locator('main input[type=file][accept^=".json,"]').setInputFiles(file);
  await expect(page.getByRole("region", { name: "Columns of the file by field" })).toBeVisible();
}

/** The button that starts the import. */
export const startButton = (page: Page) => page.getByRole("button", { name: /^Start/ });

/** Starts the import, waits for the job's view, and returns its path. */
export async function start(page: Page): Promise<string> {
  await startButton(page).click();
  await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/);
  await expect(page.getByRole("progressbar", { name: "Progress" })).toBeVisible();
  return new URL(page.url()).pathname;
}

/** Waits until the job is complete. */
export async function complete(page: Page): Promise<void> {
  await expect(page.getByText("Job complete", { exact: true }).first()).toBeVisible({ timeout: 240_000 });
}

/** Returns a count of the job by its label. */
export async function figure(page: Page, name: string): Promise<string | null> {
  return page
    .locator("dl div")
    .filter({ has: page.getByText(name, { exact: true }) })
    .locator("dd")
    .textContent();
}

/** The preview of a picked file. */
export const preview = (page: Page) => page.getByRole("region", { name: "The first rows of the file" });

/** Shows the records of a completed import, and returns their table. */
export async function records(page: Page, dataset: string): Promise<Locator> {
  await page.getByRole("link", { name: `See the records of ${dataset}` }).click();
  return page.getByRole("region", { name: `Records of ${dataset}` });
}

/** The widths of a small phone, a tablet and a wide screen. */
export const WIDTHS = [320, 768, 1440];

/**
 * Checks that axe finds no violation in either colour scheme, and that the page does not scroll sideways at any
 * width. Saves a picture of each under `.longshore/screenshots`.
 */
export async function accessible(page: Page, view: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(wide, `${view}, ${width} pixels wide`).toBeLessThanOrEqual(width);
      for (const table of await page.locator(".cards").all()) {
        const cut = await table.evaluate((it) => it.scrollWidth - it.clientWidth);
        expect(cut, `${view}, ${width} pixels wide: cut off`).toBeLessThanOrEqual(0);
        expect(await table.getByRole("columnheader").count()).toBeGreaterThan(2);
      }
      const path = picture(`${view}-${width}-${colorScheme}.png`);
      await page.screenshot({ path, fullPage: true, animations: "disabled" });
    }
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const { violations } = await new AxeBuilder({ page }).withTags(tags).analyze();
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
    expect(found, `${view}, ${colorScheme}`).toEqual([]);
  }
}
