/** What holds for every view: nothing that axe finds, nothing from elsewhere, and little to load. */

import AxeBuilder from "@axe-core/playwright";
import { expect, type Page, test } from "@playwright/test";
import { complete, fresh, open, people, pick, pickSchema, picture, stack, start } from "./support";

/** The widths of a small phone, a tablet and a wide screen. */
const WIDTHS = [320, 768, 1440];

/** Bytes that a first visit may transfer. */
const BUDGET = 150_000;

/**
 * In either colour scheme axe finds nothing, and at no width the page scrolls to the side. Leaves a picture of each under
 * `.longshore/screenshots`.
 */
async function accessible(page: Page, view: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(wide, `${view}, ${width} pixels wide`).toBeLessThanOrEqual(width);
      const path = picture(`${view}-${width}-${colorScheme}.png`);
      await page.screenshot({ path, fullPage: true, animations: "disabled" });
    }
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const { violations } = await new AxeBuilder({ page }).withTags(tags).analyze();
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
    expect(found, `${view}, ${colorScheme}`).toEqual([]);
  }
}

test("axe finds nothing on any view, and each fits a phone", async ({ page }) => {
  const dataset = fresh("axe");
  await page.goto(stack().webUrl);
  await expect(page.getByRole("button", { name: "Sign in" })).toBeVisible();
  await accessible(page, "sign-in");
  await open(page);
  await accessible(page, "import");
  await pick(page, `${dataset}.csv`, people(40, 10));
  await pickSchema(page);
  await accessible(page, "picked");
  const job = await start(page);
  await accessible(page, "running");
  await complete(page);
  await expect(page.getByRole("region", { name: "Row by row" })).toBeVisible();
  await accessible(page, "result");
  await page.getByRole("button", { name: "Delete" }).click();
  await accessible(page, "confirm");
  await page.keyboard.press("Escape");
  for (const [view, path] of [
    ["jobs", "/jobs"],
    ["datasets", "/datasets"],
    ["records", `/datasets/${dataset}`],
    ["no-job", "/jobs/0198c0de-0000-7000-8000-000000000000"],
    ["reloaded", job],
  ] as const) {
    await page.goto(stack().webUrl + path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(page.getByText("Loading...")).toHaveCount(0);
    await accessible(page, view);
  }
});

test("the page is small, and asks nobody but its deployment", async ({ page }) => {
  const complaints: string[] = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  const hosts = new Set<string>();
  page.on("request", (request) => hosts.add(new URL(request.url()).origin));
  const network = await page.context().newCDPSession(page);
  await network.send("Network.enable");
  let bytes = 0;
  network.on("Network.loadingFinished", ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  const answer = await page.goto(stack().webUrl);
  await expect(page.getByRole("button", { name: "Sign in" })).toBeVisible();
  const interactive = await page.evaluate(() => Math.round(performance.now()));
  await page.waitForLoadState("networkidle");
  console.log(`    ${bytes} bytes, ready after ${interactive} ms`);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(BUDGET);
  expect([...hosts]).toEqual([stack().webUrl]);
  expect(complaints).toEqual([]);
  const policy = (await answer?.headerValue("content-security-policy")) ?? "";
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
  expect(policy).not.toContain("unsafe");
});

test("colours are switched by hand, and stay", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(stack().webUrl);
  await page.getByRole("button", { name: "Use dark colours" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});

test("a file is picked and started with the keyboard alone", async ({ page }) => {
  await open(page);
  const chooser = page.waitForEvent("filechooser");
  await page.locator("main input[type=file]").focus();
  await page.keyboard.press("Enter");
  const buffer = Buffer.from(people(5));
  await (await chooser).setFiles({ name: `${fresh("keys")}.csv`, mimeType: "text/csv", buffer });
  const button = page.getByRole("button", { name: /^Start/ });
  await expect(button).toBeEnabled();
  for (
    let steps = 0;
    steps < 40 && !(await button.evaluate((it) => it === document.activeElement));
    steps++
  ) {
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await complete(page);
});
