/** Drafts of imports: each belongs to its file, and continues while another view is shown. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, type Page, type Request, test } from "@playwright/test";
import { complete, fresh, largePeople, open, people, pick, pickSchema, start, startButton } from "./support";

/** Holds the PUT requests of files from this size on, until the returned function is called. */
async function holdUploads(page: Page, fromBytes = 0): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const smaller = new Set<string>();
  await page.route("**/api/uploads", async (route) => {
    const response = await route.fetch();
    const { url } = await response.json();
    if (url && route.request().postDataJSON().size < fromBytes) smaller.add(new URL(url).pathname);
    await route.fulfill({ response });
  });
  await page.route("**", async (route) => {
    const request = route.request();
    const isHeld = request.method() === "PUT" && !smaller.has(new URL(request.url()).pathname);
    if (!isHeld) return route.fallback();
    await released;
    // The page may have aborted it.
    await route.continue().catch(() => {});
  });
  return release;
}

/** Size from which a file is not a sample. */
const LARGE = 1_000_000;

/** Collects the page's POST requests to a path, from now on. */
function posted(page: Page, path: string): Request[] {
  const seen: Request[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST" && new URL(request.url()).pathname === path) seen.push(request);
  });
  return seen;
}

function problem(kind: string, status: number, title: string) {
  const body = { type: `/api/problems/${kind}`, title, status, detail: title, requestId: "request-7" };
  return { status, contentType: "application/problem+json", body: JSON.stringify(body) };
}

const keyField = (page: Page) => page.locator("select[aria-describedby=key-hint]");

/** Drops a file. Returns true if the page has prevented the browser from opening it. */
async function drop(page: Page, on: string, name: string, content: string): Promise<boolean> {
  return page.evaluate(
    ([on, name, content]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([content ?? ""], name ?? ""));
      const target = document.querySelector(on ?? "");
      const event = () => ({ dataTransfer, bubbles: true, cancelable: true });
      const over = target?.dispatchEvent(new DragEvent("dragover", event()));
      return over === false && target?.dispatchEvent(new DragEvent("drop", event())) === false;
    },
    [on, name, content],
  );
}

test("a waiting start is canceled with its file", async ({ page }) => {
  await open(page);
  const jobs = posted(page, "/api/jobs");
  const release = await holdUploads(page, LARGE);
  await pick(page, "alpha.csv", largePeople(100));
  await startButton(page).click();
  await expect(page.getByRole("button", { name: "Starts when the upload is done" })).toBeDisabled();
  await page.getByRole("button", { name: "Remove this file" }).click();
  await pick(page, "beta.csv", largePeople(100));
  release();
  await expect(page.getByText("Uploaded", { exact: true }).first()).toBeVisible();
  await expect(page.getByRole("button", { name: "Start import" })).toBeEnabled();
  await page.waitForTimeout(2000);
  expect(jobs).toHaveLength(0);
});

test("the key follows its column through the mapping", async ({ page }) => {
  const dataset = fresh("keys");
  await open(page);
  await pick(page, `${dataset}.csv`, "name,email,id\nAnn,a@example.com,1\n");
  await expect(keyField(page)).toHaveValue("id");
  await keyField(page).selectOption("name");
  await expect(keyField(page)).toHaveValue("name");
  await page.getByRole("button", { name: "Remove this file" }).click();

  await pick(page, `${dataset}.csv`, "name,Customer No,id\nAnn,7,1\nBob,7,2\n");
  await keyField(page).selectOption("Customer No");
  await expect(page.getByText('The key "Customer No" has "7" more than once.')).toBeVisible();
  await pickSchema(page, JSON.stringify({ properties: { customer_no: { type: "string" } } }));
  await expect(keyField(page).locator("option:checked")).toHaveText("customer_no");
  const [request] = await Promise.all([page.waitForRequest("**/api/jobs"), start(page)]);
  expect(request.postDataJSON().options.key).toBe("customer_no");
});

test("an import continues while another view is shown, and keeps its choices", async ({ page }) => {
  const dataset = fresh("left");
  await open(page);
  const jobs = posted(page, "/api/jobs");
  const release = await holdUploads(page, LARGE);
  await pick(page, "people.csv", largePeople(100));
  await startButton(page).click();
  await expect(page.getByLabel("Dataset")).toBeDisabled();
  await page.getByRole("button", { name: "Do not start" }).click();
  await expect(page.getByRole("button", { name: "Start import" })).toBeFocused();
  await page.getByLabel("Dataset").fill(dataset);

  const navigation = page.getByRole("navigation", { name: "Pages" });
  await navigation.getByRole("link", { name: "Jobs" }).click();
  await navigation.getByRole("link", { name: "Import" }).click();
  await expect(page.getByLabel("Dataset")).toHaveValue(dataset);
  await startButton(page).click();
  await navigation.getByRole("link", { name: "Jobs" }).click();
  expect(jobs).toHaveLength(0);
  release();
  await expect(page.locator("[aria-live=polite]").last()).toHaveText("The import of people.csv has started.");
  expect(jobs.map((request) => request.postDataJSON().options.dataset)).toEqual([dataset]);
  expect(new URL(page.url()).pathname).toBe("/jobs");
  await navigation.getByRole("link", { name: "Import" }).click();
  await page.getByRole("link", { name: "See its job" }).click();
  await complete(page);
});

test("a start after a lost reply repeats the same request", async ({ page }) => {
  await open(page);
  const jobs = posted(page, "/api/jobs");
  const uploads = posted(page, "/api/uploads");
  await page.route("**/api/jobs", async (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    await route.fetch();
    await route.abort();
  });
  await pick(page, `${fresh("lost")}.csv`, people(3));
  await startButton(page).click();
  await expect(page.getByRole("alert")).toContainText("The server cannot be reached.");
  await page.unroute("**/api/jobs");
  await start(page);
  const keys = await Promise.all(jobs.map((request) => request.headerValue("idempotency-key")));
  expect(keys.length).toBeGreaterThan(1);
  expect(new Set(keys).size).toBe(1);
  expect(uploads).toHaveLength(1);
});

test("a file with a known mapping is uploaded once, as it is", async ({ page }) => {
  const dataset = fresh("known");
  const content = people(3).replace("id,name,age", "Id,Full name,Age");
  await open(page);
  await pick(page, `${dataset}.csv`, content);
  await pickSchema(page);
  await start(page);
  await page.getByRole("link", { name: "Import" }).click();
  const uploads = posted(page, "/api/uploads");
  const put = page.waitForRequest((request) => request.method() === "PUT");
  await pick(page, `${dataset}.csv`, content);
  await put;
  await page.route("**/api/jobs", (route) => route.fulfill(problem("busy", 503, "Busy")), { times: 1 });
  await startButton(page).click();
  await expect(page.getByRole("alert")).toContainText("The server is busy");
  await expect(page.getByRole("alert")).toContainText("Request request-7");
  const [request] = await Promise.all([page.waitForRequest("**/api/jobs"), start(page)]);
  const { key, columns } = request.postDataJSON().options;
  expect([key, columns]).toEqual(["id", { Id: "id", "Full name": "name", Age: "age" }]);
  expect(uploads.map((upload) => upload.postDataJSON().size)).toEqual([content.length]);
  await complete(page);
});

test("an upload with a temporary error is resumed, not restarted", async ({ page }) => {
  const folder = mkdtempSync(join(tmpdir(), "longshore-"));
  const path = join(folder, `${fresh("resumed")}.csv`);
  writeFileSync(path, people(3));
  try {
    await open(page);
    const uploads = posted(page, "/api/uploads");
    const release = await holdUploads(page);
    const put = page.waitForRequest((request) => request.method() === "PUT");
    await page.locator("main input[type=file]").setInputFiles(path);
    await put;
    await page.reload();
    release();
    await page.route("**/api/uploads/*", (route) => route.fulfill(problem("no-tenant", 403, "No tenant")), {
      times: 1,
    });
    await page.locator("main input[type=file]").setInputFiles(path);
    // The client does not retry this error. The upload still exists.
    await expect(page.getByRole("alert")).toContainText("You do not have access");
    await page.getByRole("button", { name: "Try again" }).click();
    await expect(page.getByText("Uploaded", { exact: true }).first()).toBeVisible();
    expect(uploads).toHaveLength(1);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a file can be dropped on the zone or outside it, and never replaces the page", async ({ page }) => {
  const dataset = fresh("dropped");
  await open(page);
  expect(await drop(page, ".drop", `${dataset}.csv`, people(3))).toBe(true);
  await expect(page.getByRole("heading", { name: `${dataset}.csv` })).toBeFocused();
  expect(await drop(page, "h1", "other.csv", people(3))).toBe(true);
  await expect(page.getByText("other.csv")).toHaveCount(0);
  await page.getByRole("button", { name: "Remove this file" }).click();
  await expect(page.locator(".drop input")).toBeFocused();
  expect(await drop(page, "h1", `${dataset}.csv`, people(3))).toBe(true);
  await expect(page.getByRole("heading", { name: `${dataset}.csv` })).toBeFocused();
  await start(page);
  await complete(page);
  expect(await drop(page, "h1", "other.csv", people(3))).toBe(true);
  await expect(page.getByText("other.csv")).toHaveCount(0);
});

test("each tenth of an upload is announced in the page's live region", async ({ page }) => {
  await open(page);
  await page.evaluate(() => {
    const announced: (string | null)[] = [];
    Object.assign(window, { announced });
    for (const region of document.querySelectorAll("[aria-live], [role=status]")) {
      const observer = new MutationObserver(() => announced.push(region.textContent));
      observer.observe(region, { childList: true, characterData: true, subtree: true });
    }
  });
  await pick(page, "people.csv", people(300_000));
  await expect(page.getByText("Uploaded", { exact: true }).first()).toBeVisible();
  await expect(page.locator("main").getByRole("status").filter({ hasText: "Upload" })).toHaveCount(0);
  const all = () => page.evaluate(() => (window as unknown as { announced: string[] }).announced);
  await expect.poll(all).toContain("The file is read: 3 columns, 100 first rows.");
  const announced = (await all()).filter((sentence) => sentence.startsWith("Upload"));
  expect(announced.at(-1)).toBe("Uploaded");
  expect(announced.length).toBeLessThan(13);
  expect(announced.every((sentence) => /^(Uploading, \d?0%|Uploaded)$/.test(sentence))).toBe(true);
});

test("an upload of corrected rows is shown, can be canceled, and survives a change of view", async ({
  page,
}) => {
  await open(page);
  await pick(page, `${fresh("corrected")}.csv`, people(20, 10));
  await pickSchema(page);
  const job = await start(page);
  await complete(page);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download as CSV" }).click(),
  ]);
  const stream = await download.createReadStream();
  const corrected = Buffer.concat(await stream.toArray())
    .toString()
    .replaceAll("unknown", "33");
  const release = await holdUploads(page);
  await pick(page, "corrected.csv", corrected);
  await expect(page.getByRole("heading", { name: "Fix the failed rows" })).toBeFocused();
  await expect(page.getByRole("progressbar", { name: "Upload" })).toBeVisible();
  await page.getByRole("button", { name: "Cancel the upload" }).click();
  await expect(page.locator(".small-drop input")).toBeFocused();

  await pick(page, "corrected.csv", corrected);
  await page.getByRole("link", { name: "Datasets" }).click();
  await page.goBack();
  await expect(page.getByRole("progressbar", { name: "Upload" })).toBeVisible();
  // The reply is lost, but the job shows the second attempt.
  await page.route("**/retry", async (route) => {
    await route.fetch();
    await route.abort();
  });
  release();
  await expect(page.getByText("Attempt 2")).toBeVisible();
  await complete(page);
  expect(new URL(page.url()).pathname).toBe(job);
});
