/** Webhooks: created with a secret, changed, listed with their deliveries, and deleted. */

import { expect, type Page, test } from "@playwright/test";
import { accessible, fresh, open, stack } from "./support";

const URL = "https://example.com/hooks/longshore";

/** Creates a disabled webhook in the page, and follows its link. */
async function create(page: Page, description: string): Promise<void> {
  await open(page, "/webhooks");
  await page.getByLabel("URL").fill(URL);
  await page.getByLabel("Description").fill(description);
  await page.getByRole("checkbox", { name: "A job has failed" }).check();
  await page.getByRole("checkbox", { name: "Enabled" }).uncheck();
  await page.getByRole("button", { name: "Create webhook" }).click();
  await expect(page.getByText(/^whsec_/)).toBeVisible();
  await accessible(page, "webhooks");
  await page.getByRole("row").filter({ hasText: description }).getByRole("link").click();
  await expect(page.getByRole("heading", { level: 1, name: description })).toBeVisible();
}

async function remove(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Delete webhook" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete webhook" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Webhooks" })).toBeVisible();
}

test("a webhook is created with its secret, changed and deleted", async ({ page }) => {
  const description = fresh("hook");
  await create(page, description);
  await expect(page.getByText("It was disabled by a user.")).toBeVisible();
  await expect(page.getByText("There are no deliveries yet.")).toBeVisible();
  await accessible(page, "webhook");
  await page.getByLabel("Description").fill(`${description}-changed`);
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1, name: `${description}-changed` })).toBeVisible();
  await expect(page.getByRole("checkbox", { name: "A job has failed" })).toBeChecked();
  await page.getByRole("button", { name: "Replace the secret" }).click();
  const reloaded = page.waitForResponse(/\/api\/webhooks\/[^/]+$/);
  await page.getByRole("dialog").getByRole("button", { name: "Replace the secret" }).click();
  await expect(page.getByText(/^whsec_/)).toBeVisible();
  await reloaded;
  await page.getByLabel("Description").fill(`${description}-again`);
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1, name: `${description}-again` })).toBeVisible();
  await remove(page);
  await expect(page.getByText(`${description}-again`)).toHaveCount(0);
});

test("every error of a webhook is shown, and nothing is created", async ({ page }) => {
  await open(page, "/webhooks");
  await page.getByLabel("URL").fill("https://intranet/hooks");
  await page.getByRole("button", { name: "Create webhook" }).click();
  await expect(page.getByRole("alert")).toContainText("intranet");
  await expect(page.getByText(/^whsec_/)).toHaveCount(0);
});

test("deliveries are shown with their last answer, and sent again", async ({ page }) => {
  await create(page, fresh("deliveries"));
  const jobId = "0198c0de-0000-7000-8000-000000000001";
  const delivery = (status: string, log: object[], more: object = {}) => ({
    deliveryId: `001790000000000-${jobId}-0-${status}`,
    event: {
      id: `${jobId}-0-${status}`,
      type: "job.failed",
      timestamp: "2026-07-01T09:00:00Z",
      data: { jobId },
    },
    status,
    attempts: log.length,
    log,
    createdAt: "2026-07-01T09:00:00Z",
    ...more,
  });
  const at = "2026-07-01T09:00:01Z";
  const deliveries = [
    delivery("pending", [{ at, ms: 250, status: 503 }], { nextAttemptAt: "2026-07-01T09:05:00Z" }),
    delivery("failed", [{ at, ms: 15_000, code: "timed_out", detail: "no answer within 15 s" }]),
    delivery("delivered", [{ at, ms: 90, status: 204 }]),
  ];
  await page.route("**/deliveries?*", (route) => route.fulfill({ json: { deliveries, nextCursor: null } }));
  let webhookStatus = "pending";
  await page.route("**/api/webhooks/*", async (route) => {
    const response = await route.fetch();
    await route.fulfill({
      json: { ...(await response.json()), status: webhookStatus, disabledReason: null },
    });
  });
  const replays: string[] = [];
  await page.route("**/replay", (route) => {
    replays.push(new globalThis.URL(route.request().url()).pathname);
    return route.fulfill({ status: 202, json: deliveries[0] });
  });
  await page.reload();
  const row = (text: string) => page.getByRole("row").filter({ hasText: text });
  await expect(page.getByText("It waits until it has passed a check")).toBeVisible();
  await expect(row("503").getByRole("button", { name: "Send again" })).toBeDisabled();
  await expect(page.getByRole("button", { name: "Send all again..." })).toHaveCount(0);
  webhookStatus = "active";
  await page.reload();
  await expect(row("503")).toContainText("Pending");
  await expect(row("no answer within 15 s")).toContainText("Failed");
  await expect(row("204")).toContainText("Delivered");
  await row("no answer within 15 s").getByRole("button", { name: "Send again" }).click();
  await expect(page.getByText("The event is sent again.")).toBeVisible();
  await page.getByRole("button", { name: "Send all again..." }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Send again" }).click();
  await expect.poll(() => replays.length).toBe(2);
  expect(replays[0]).toContain(`${jobId}-0-failed/replay`);
  await page.unrouteAll({ behavior: "wait" });
  await page.goto(`${stack().webUrl}/webhooks`);
});
