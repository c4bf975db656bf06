/** Requirements of every view: accessibility, a strict policy, a small size, and use by keyboard. */

import { expect, type Locator, type Page, test } from "@playwright/test";
import { holdJobRunning, mockJobList } from "./mocks";
import {
  accessible,
  complete,
  corpus,
  DATES,
  figure,
  fresh,
  open,
  people,
  pick,
  pickSchema,
  signIn,
  stack,
  start,
} from "./support";

/** The maximum transfer of a first visit, in bytes. */
const BUDGET = 150_000;

test("every view passes axe and fits a phone", async ({ page }) => {
  const dataset = fresh("axe");
  await page.goto(stack().webUrl);
  await expect(page.getByRole("button", { name: "Sign in" })).toBeVisible();
  await accessible(page, "sign-in");
  await open(page);
  await accessible(page, "import");
  await pick(page, `${dataset}.csv`, people(40).replace("age", "shoe size"));
  await pickSchema(page);
  await expect(page.getByText("The import would fail")).toBeVisible();
  await accessible(page, "problems");
  await page.getByRole("button", { name: "Remove this file" }).click();
  await pick(page, "dates.csv", corpus("values/dates-ambiguous.csv"));
  await pickSchema(page, DATES);
  await expect(page.getByText("Answer a question before you start")).toBeVisible();
  await page.getByText("Change how the file is read", { exact: true }).click();
  await page.getByLabel("Header row").selectOption("Another row");
  await expect(page.getByLabel("Number of the header row")).toBeVisible();
  // While the file is read again, the old rows are dimmed.
  await expect(page.locator(".stale")).toHaveCount(0);
  await accessible(page, "questions");
  await page.getByRole("button", { name: "Remove this file" }).click();
  await pick(page, `${dataset}.csv`, people(40, 10));
  await pickSchema(page);
  await expect(page.getByText("4 of the first 40 rows would fail")).toBeVisible();
  await accessible(page, "picked");
  const release = await holdJobRunning(page);
  const job = await start(page);
  const running = page.getByText("Job running, 41% complete...").first();
  await expect(running).toBeVisible();
  await accessible(page, "running");
  await page.context().setOffline(true);
  await expect(page.getByText("No connection.")).toBeVisible();
  await accessible(page, "offline");
  await page.context().setOffline(false);
  await expect(running).toBeVisible();
  await release();
  await complete(page);
  await expect(page.getByRole("region", { name: "Row by row" })).toBeVisible();
  await accessible(page, "result");
  await page.getByRole("button", { name: "Delete" }).click();
  await accessible(page, "confirm");
  await page.keyboard.press("Escape");
  for (const [view, path] of [
    ["jobs", "/jobs"],
    ["datasets", "/datasets"],
    ["job-types", "/types"],
    ["records", `/datasets/${dataset}`],
    ["no-job", "/jobs/0198c0de-0000-7000-8000-000000000000"],
    ["reloaded", job],
  ] as const) {
    await page.goto(stack().webUrl + path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(page.getByText("Loading...")).toHaveCount(0);
    await accessible(page, view);
  }
  await page.goto(`${stack().webUrl}/datasets/${dataset}`);
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByText("All 3 columns").click();
  await accessible(page, "export");
});

test("views with errors pass axe", async ({ page }) => {
  await open(page, "/jobs");
  await mockJobList(page, () => 404);
  await page.reload();
  await expect(page.getByRole("button", { name: "Try again" })).toBeVisible();
  await accessible(page, "fault");
  await page.route("**/oauth2/token", (route) =>
    route.fulfill({ status: 400, json: { error: "invalid_grant" } }),
  );
  await mockJobList(page, () => 401);
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByText("Your session has ended")).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(1);
  await accessible(page, "expired");
});

test("the first visit stays below the transfer budget", async ({ page }) => {
  const network = await page.context().newCDPSession(page);
  await network.send("Network.enable");
  let bytes = 0;
  network.on("Network.loadingFinished", ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await page.goto(stack().webUrl);
  await expect(page.getByRole("button", { name: "Sign in" })).toBeVisible();
  const interactive = await page.evaluate(() => Math.round(performance.now()));
  await page.waitForLoadState("networkidle");
  console.log(`    ${bytes} bytes, ready after ${interactive} ms`);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(BUDGET);
});

test("the footer links to the licences of third-party software", async ({ page }) => {
  await page.goto(stack().webUrl);
  await page.getByRole("contentinfo").getByRole("link").click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Licences of third-party software");
  await expect(page.getByRole("heading", { name: /^preact / })).toBeVisible();
});

test("the page connects only to its own deployment, under a strict policy", async ({ page }) => {
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.exposeFunction("complain", (complaint: string) => complaints.push(complaint));
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
      (window as unknown as { complain: (text: string) => void }).complain(
        `${violatedDirective} ${blockedURI}`,
      );
    });
  });
  const origins = new Set<string>();
  page.on("request", (request) => origins.add(new URL(request.url()).origin));
  const answer = await page.goto(stack().webUrl);
  const policy = (await answer?.headerValue("content-security-policy")) ?? "";
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
  expect(policy).not.toContain("unsafe");

  await signIn(page);
  await pick(page, `${fresh("asks")}.csv`, people(20, 10));
  await pickSchema(page);
  await start(page);
  await complete(page);
  expect(await figure(page, "Failed")).toBe("2");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download as CSV" }).click();
  const file = await download;
  origins.add(new URL(file.url()).origin);
  await file.delete();
  for (const name of ["Jobs", "Datasets"]) {
    await page.getByRole("link", { name, exact: true }).click();
    await expect(page.getByRole("region")).toBeVisible();
  }

  const connect = /connect-src ([^;]*)/.exec(policy)?.[1]?.split(" ") ?? [];
  const allowed = connect.map((source) => (source === "'self'" ? stack().webUrl : source));
  expect([...origins].filter((origin) => !allowed.includes(origin))).toEqual([]);
  expect(origins.size).toBeGreaterThan(1);
  expect(complaints).toEqual([]);
});

test("the chosen colour scheme is kept", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(stack().webUrl);
  await page.getByRole("button", { name: "Use dark colours" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});

/** Presses Tab until an element has focus, and returns the number of presses. */
async function tabsTo(page: Page, target: Locator): Promise<number> {
  for (let tabs = 1; tabs <= 40; tabs++) {
    await page.keyboard.press("Tab");
    if (await target.evaluate((it) => it === document.activeElement)) return tabs;
  }
  throw new Error("The element cannot be reached by keyboard");
}

test("a file can be picked and started by keyboard", async ({ page }) => {
  // Before the click: Playwright misses a chooser that opens earlier.
  const chooser = page.waitForEvent("filechooser");
  await open(page);
  await expect(page.getByRole("main")).toBeFocused();
  await page.reload();
  await expect(page.locator("main input[type=file]")).toBeAttached();
  expect(await tabsTo(page, page.getByRole("link", { name: "Skip to content" }))).toBe(1);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("main")).toBeFocused();
  expect(await tabsTo(page, page.locator("main input[type=file]"))).toBe(1);
  await page.keyboard.press("Enter");
  const buffer = Buffer.from(people(5));
  await (await chooser).setFiles({ name: `${fresh("keys")}.csv`, mimeType: "text/csv", buffer });
  const button = page.getByRole("button", { name: /^Start/ });
  await expect(button).toBeEnabled();
  // In between are the file's button, its reading, its first rows, four fields, and the columns to leave out.
  expect(await tabsTo(page, button)).toBeLessThanOrEqual(10);
  await page.keyboard.press("Enter");
  await complete(page);
  await expect(page.getByRole("main")).toBeFocused();
  expect(await tabsTo(page, page.getByRole("button", { name: "Undo this import" }))).toBe(1);
  expect(await tabsTo(page, page.getByRole("button", { name: "Delete" }))).toBe(1);
});
