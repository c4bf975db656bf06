/** Jobs and their views survive a reload, a lost network, a second tab, and an ended session. */

import { expect, type Page, test } from "@playwright/test";
import { holdJobRunning } from "./mocks";
import { complete, figure, fresh, open, people, pick, signIn, stack, start } from "./support";

test("a reload continues with the running job", async ({ page }) => {
  await open(page);
  await pick(page, `${fresh("reload")}.csv`, people(3000));
  const release = await holdJobRunning(page);
  const path = await start(page);
  const running = page.getByText("Job running, 41% complete...").first();
  await expect(running).toBeVisible();
  await page.reload();
  await expect(running).toBeVisible();
  expect(new URL(page.url()).pathname).toBe(path);
  await release();
  await complete(page);
  expect(await figure(page, "Succeeded")).toBe("3,000");
});

test("a lost network is shown, and the job is followed after its return", async ({ page, context }) => {
  await open(page);
  await pick(page, `${fresh("offline")}.csv`, people(3000));
  await start(page);
  // The live region must exist before the notice, or the notice is not read.
  await expect(page.getByRole("status").first()).toHaveText("");
  await context.setOffline(true);
  await expect(page.getByRole("status").first()).toContainText("No connection.");
  await page.waitForTimeout(3000);
  await context.setOffline(false);
  await expect(page.getByText("No connection.")).toBeHidden();
  await complete(page);
  expect(await figure(page, "Succeeded")).toBe("3,000");
});

test("two tabs show the same job", async ({ page, context }) => {
  await open(page);
  await pick(page, `${fresh("tabs")}.csv`, people(1000));
  const path = await start(page);
  const second = await context.newPage();
  await second.goto(stack().webUrl + path);
  await signIn(second);
  expect(new URL(second.url()).pathname).toBe(path);
  await Promise.all([complete(page), complete(second)]);
  expect(await figure(second, "Succeeded")).toBe("1,000");
});

test("a job is canceled, with exact counts", async ({ page }) => {
  await open(page);
  await pick(page, `${fresh("cancel")}.csv`, people(100_000));
  await start(page);
  // All rows are counted, so the remaining ones are countable, too.
  await expect(page.locator(".figures span").first()).toHaveText(/of 100,000$/, { timeout: 120_000 });
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.locator(".heading").getByText("Canceled")).toBeVisible({ timeout: 120_000 });
  const counts = await exactCounts(page);
  expect(counts.succeeded + counts.failed + counts.skipped).toBe(counts.done);
  expect(counts.done + counts.left).toBe(100_000);
  expect(counts.left).toBeGreaterThan(0);
  await page.reload();
  await expect(page.locator(".heading").getByText("Canceled")).toBeVisible();
  expect(await exactCounts(page)).toEqual(counts);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete job" }).click();
  await expect(page).toHaveURL(/\/jobs$/);
});

/** Returns the counts of an ended job; `left` is the number of rows in the file of unprocessed rows. */
async function exactCounts(page: Page) {
  const toNumber = (text: string | null) => Number((text ?? "").replace(/\D/g, ""));
  const unprocessed = page.getByRole("listitem").filter({ hasText: "Unprocessed rows" });
  const done = (await page.locator(".figures span").first().textContent())?.split(" of ")[0] ?? null;
  return {
    left: toNumber(await unprocessed.textContent()),
    done: toNumber(done),
    succeeded: toNumber(await figure(page, "Succeeded")),
    failed: toNumber(await figure(page, "Failed")),
    skipped: toNumber(await figure(page, "Skipped")),
  };
}

test("a sign-in after an expired session returns to the job", async ({ page }) => {
  await open(page);
  await pick(page, `${fresh("expired")}.csv`, people(100));
  const path = await start(page);
  await complete(page);
  await page.evaluate(() => {
    const key = Object.keys(sessionStorage).find((key) => key.startsWith("oidc.user:")) ?? "";
    const user = JSON.parse(sessionStorage.getItem(key) ?? "{}");
    const ended = { ...user, access_token: "ended", refresh_token: undefined, expires_at: 1 };
    sessionStorage.setItem(key, JSON.stringify(ended));
  });
  await page.reload();
  await expect(page.getByRole("heading", { name: "Your session has ended" })).toBeVisible();
  await signIn(page);
  expect(new URL(page.url()).pathname).toBe(path);
  await complete(page);
});

test("an expired token is renewed silently", async ({ page }) => {
  let renewals = 0;
  await page.route("**/oauth2/token", async (route) => {
    if (!route.request().postData()?.includes("refresh_token")) return route.continue();
    renewals++;
    const response = await route.fetch();
    // The emulator's renewed ID token has another auth_time, which OpenID Connect forbids. The ID token is
    // optional.
    const { id_token: _, ...tokens } = await response.json();
    await route.fulfill({ response, json: tokens });
  });
  await open(page, "/jobs");
  await page.evaluate(() => {
    const key = Object.keys(sessionStorage).find((key) => key.startsWith("oidc.user:")) ?? "";
    const user = JSON.parse(sessionStorage.getItem(key) ?? "{}");
    sessionStorage.setItem(key, JSON.stringify({ ...user, access_token: "ended", expires_at: 1 }));
  });
  await page.reload();
  await expect(page.getByRole("button", { name: "Sign out" })).toBeVisible();
  await expect(page.getByRole("heading", { name: "Jobs" })).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(0);
  expect(renewals).toBe(1);
});

test("a sign-out requires a new sign-in", async ({ page }) => {
  await open(page);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForLoadState();
  await page.goto(`${stack().webUrl}/jobs`);
  await expect(page.getByRole("heading", { name: "Sign in to import files" })).toBeVisible();
  expect(
    await page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith("oidc.user:"))),
  ).toEqual([]);
});
