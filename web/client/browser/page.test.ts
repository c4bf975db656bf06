// The example page in a real browser: upload progress, cancellation, and resumption after a reload.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type Page, chromium as playwright } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { ARGUMENTS, chromium } from "../../chromium.js";
import { completed, JOB_CALL, JOB_ID, jobAt, problem, state } from "../tests/messages.js";
import { TestServer } from "../tests/server.js";

let browser: Browser;
let folder: string;
let server: TestServer;
let page: Page;

beforeAll(async () => {
  browser = await playwright.launch({ executablePath: chromium(), args: ARGUMENTS });
  folder = await mkdtemp(join(tmpdir(), "longshore-client-"));
}, 60_000);

afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true });
});

beforeEach(async () => {
  server = await TestServer.start();
  await serve("examples/page.html", "text/html");
  await serve("examples/page.js", "text/javascript");
  await serve("examples/short.html", "text/html");
  await serve("dist/longshore-client.js", "text/javascript");
  page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  await page.goto(`${server.url}/examples/page.html`);
});

afterEach(async () => {
  await page.close();
  await server.stop();
});

async function serve(path: string, type: string): Promise<void> {
  const body = await readFile(new URL(`../${path}`, import.meta.url), "utf8");
  server.script(`GET /${path}`, ...Array(2).fill({ status: 200, headers: { "content-type": type }, body }));
}

async function choose(name: string, text: string): Promise<void> {
  const path = join(folder, name);
  await writeFile(path, text);
  await page.getByLabel("File").setInputFiles(path);
}

/** Scripts the job that the page creates, and its output. */
function scriptJob(): void {
  server.script("POST /api/jobs", { status: 202, body: jobAt(0) });
  server.script(JOB_CALL, state(jobAt(41)), state(completed()));
  const files = { failed: { url: `${server.url}/s3/failed.csv` } };
  server.script(`GET /api/jobs/${JOB_ID}/output`, {
    status: 200,
    body: { counts: { succeeded: 98, failed: 2 }, files },
  });
}

/** Returns a button by its name. */
const press = (name: string) => page.getByRole("button", { name }).click();
const says = (text: string) => page.getByRole("status").filter({ hasText: text }).waitFor();
const puts = () => server.seen("PUT /s3/*");

test("imports a small file and links to its failed rows", async () => {
  scriptJob();
  await choose("people.csv", "email,name\nann@example.com,Ann\n");
  await press("Import");
  await says("Job running, 41% complete...");
  await says("98 succeeded, 2 failed");
  const failed = page.getByRole("link", { name: "Rows that failed" });
  expect(await failed.getAttribute("href")).toBe(`${server.url}/s3/failed.csv`);
  expect(server.seen(JOB_CALL)[1]?.headers["if-none-match"]).toBeDefined();
});

test("resumes a large file after a cancellation and a reload", {
  timeout: 60_000,
}, async () => {
  scriptJob();
  const text = "a,b\n".repeat(600_000);
  server.uploads.partSize = 1_000_000;
  server.script("PUT /s3/*", "as-usual", "silent", "as-usual");
  await choose("large.csv", text);
  await press("Import");
  await vi.waitUntil(() => [...server.uploads.all.values()][0]?.parts.size === 2, { timeout: 20_000 });
  expect(Number(await page.locator("progress").getAttribute("value"))).toBeGreaterThan(0);
  await press("Cancel");
  await says("Stopped");

  await page.reload();
  // Not written again: a new modification date would make it another file.
  await page.getByLabel("File").setInputFiles(join(folder, "large.csv"));
  await press("Import");
  await says("98 succeeded, 2 failed");
  expect(puts()).toHaveLength(4);
  expect(server.uploads.all.size).toBe(1);
  expect([...server.uploads.all.values()][0]?.content?.toString()).toBe(text);
});

test("does not send a file again if only its job was refused", async () => {
  server.script("POST /api/jobs", problem(422, "invalid-request"));
  await choose("people.csv", "email,name\nann@example.com,Ann\n");
  await press("Import");
  await says("It is invalid-request.");
  scriptJob();
  await press("Import");
  await says("98 succeeded, 2 failed");
  expect(puts()).toHaveLength(1);
  expect(server.uploads.all.size).toBe(1);
});

test("aborts and repeats a PUT that sends nothing for a minute", async () => {
  scriptJob();
  await page.clock.install();
  server.script("PUT /s3/*", "silent");
  await choose("people.csv", "email,name\nann@example.com,Ann\n");
  await press("Import");
  await vi.waitUntil(() => puts().length === 1, { timeout: 20_000 });
  await page.clock.runFor(50_000);
  expect(puts()).toHaveLength(1);
  await page.clock.runFor(11_000);
  await vi.waitUntil(() => puts().length === 2, { timeout: 20_000 });
  await says("98 succeeded, 2 failed");
});

test("the README's page uploads a file and shows the job's progress", async () => {
  scriptJob();
  await page.goto(`${server.url}/examples/short.html`);
  await page.evaluate(() => sessionStorage.setItem("token", "the-token"));
  const path = join(folder, "people.csv");
  await writeFile(path, "email,name\nann@example.com,Ann\n");
  await page.locator("input").setInputFiles(path);
  await says("Job complete");
  expect(await page.locator("progress").getAttribute("value")).toBe("100");
  expect(server.seen("POST /api/jobs")[0]?.headers.authorization).toBe("Bearer the-token");
});
