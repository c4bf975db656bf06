/**
 * Sessions: expiry, renewal, sign-out, and errors that do not end them. Jobs and their views survive an ended
 * session, a reload, a lost network, and a second tab.
 */

import { expect, type Page, test } from "@playwright/test";
import { holdJobRunning } from "./mocks";
import { complete, figure, fresh, open, people, pick, signIn, stack, start } from "./support";

const TOKENS = "**/oauth2/token";
const ENDED = "Your session has ended";

/**
 * Makes renewals work, and returns their count. The emulator's renewed ID token has another auth_time, which
 * OpenID Connect forbids; the ID token is optional.
 */
async function renewable(page: Page): Promise<() => number> {
  let renewals = 0;
  await page.route(TOKENS, async (route) => {
    if (!route.request().postData()?.includes("refresh_token")) return route.continue();
    renewals++;
    const response = await route.fetch();
    const { id_token: _, ...tokens } = await response.json();
    await route.fulfill({ response, json: tokens });
  });
  return () => renewals;
}

/** Refuses the token of every request for a job, and returns their count. */
async function refuse(page: Page): Promise<() => number> {
  let calls = 0;
  await page.route(/\/api\/jobs\/[0-9a-f-]{36}$/, async (route) => {
    calls++;
    await route.fulfill({ status: 401, json: { message: "Unauthorized" } });
  });
  return () => calls;
}

test("a refused new token is an error, not a loop", async ({ page }) => {
  await open(page);
  const renewals = await renewable(page);
  const calls = await refuse(page);
  await page.goto(`${stack().webUrl}/jobs/0198c0de-0000-7000-8000-000000000000`);
  await expect(page.getByRole("alert")).toContainText("You are no longer signed in");
  await page.waitForTimeout(3000);
  expect([calls(), renewals()]).toEqual([2, 1]);
});

for (const [failure, status] of [
  ["an unreachable issuer", 0],
  ["a server error of the issuer", 503],
] as const) {
  test(`a renewal that fails with ${failure} does not end the session, and is retried`, async ({ page }) => {
    await open(page);
    let renewals = 0;
    await page.route(TOKENS, async (route) => {
      renewals++;
      if (status) await route.fulfill({ status, json: { error: "temporarily_unavailable" } });
      else await route.abort();
    });
    const calls = await refuse(page);
    await page.goto(`${stack().webUrl}/jobs/0198c0de-0000-7000-8000-000000000000`);
    await expect(page.getByRole("alert")).toContainText("You are no longer signed in");
    await page.waitForTimeout(2000);
    expect([calls(), renewals]).toEqual([1, 4]);
    await expect(page.getByRole("button", { name: "Sign out" })).toBeVisible();

    await page.unrouteAll();
    await page.getByRole("button", { name: "Try again" }).click();
    await expect(page.getByRole("heading", { name: "There is nothing here" })).toBeVisible();
  });
}

test("a form survives the end of the session, and continues after a sign-in in another tab", async ({
  page,
  context,
}) => {
  await open(page);
  await pick(page, `${fresh("kept")}.csv`, people(10));
  const dataset = fresh("typed");
  await page.getByLabel(/^Dataset/).fill(dataset);
  await page.route(TOKENS, (route) => route.fulfill({ status: 400, json: { error: "invalid_grant" } }));
  await page.route("**/api/jobs", (route) =>
    route.fulfill({ status: 401, json: { message: "Unauthorized" } }),
  );
  await page.getByRole("button", { name: /^Start/ }).click();
  const notice = page.getByRole("alert").filter({ hasText: ENDED });
  await expect(notice).toHaveCount(1);
  await expect(page.getByLabel(/^Dataset/)).toHaveValue(dataset);
  await page.unrouteAll();

  const opened = context.waitForEvent("page");
  await notice.getByRole("link", { name: "Open sign-in in another tab" }).click();
  await signIn(await opened);
  await expect(notice).toHaveCount(0);
  await expect(page.getByLabel(/^Dataset/)).toHaveValue(dataset);
  await start(page);
  await complete(page);
});

test("a job is followed again after a sign-in in another tab", async ({ page, context }) => {
  await open(page);
  await pick(page, `${fresh("followed")}.csv`, people(10));
  const release = await holdJobRunning(page);
  await start(page);
  await page.route(TOKENS, (route) => route.fulfill({ status: 400, json: { error: "invalid_grant" } }));
  await refuse(page);
  await expect(page.getByRole("alert").filter({ hasText: ENDED })).toHaveCount(1);
  await expect(page.getByText("Job running, 41% complete...").first()).toBeVisible();
  await page.unrouteAll();
  await release();
  const opened = context.waitForEvent("page");
  await page.getByRole("link", { name: "Open sign-in in another tab" }).click();
  await signIn(await opened);
  await complete(page);
});

test("an unreachable issuer is shown at sign-in", async ({ page }) => {
  await page.route("**/config.json", async (route) => {
    const response = await route.fetch();
    const { signIn, ...config } = await response.json();
    await route.fulfill({ response, json: { ...config, signIn: { ...signIn, hostedPage: null } } });
  });
  await page.route("**/.well-known/openid-configuration", (route) => route.abort());
  await page.goto(stack().webUrl);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert")).toContainText("The sign-in page does not respond.");
  await expect(page.getByRole("button", { name: "Try again" })).toBeVisible();
});

test("a sign-out affects every tab and revokes the refresh token", async ({ page, context }) => {
  const revoked: (string | null)[] = [];
  await context.route("**/oauth2/revoke", async (route) => {
    revoked.push(new URLSearchParams(route.request().postData() ?? "").get("token_type_hint"));
    await route.fulfill({ status: 200 });
  });
  await open(page, "/jobs");
  const other = await context.newPage();
  await other.goto(`${stack().webUrl}/jobs`);
  await signIn(other);
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(other.getByRole("heading", { name: "Sign in to import files" })).toBeVisible();
  expect(await other.evaluate(() => Object.keys(sessionStorage))).toEqual([]);
  await expect.poll(() => revoked).toEqual(["refresh_token"]);
});

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
  const renewals = await renewable(page);
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
  expect(renewals()).toBe(1);
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
