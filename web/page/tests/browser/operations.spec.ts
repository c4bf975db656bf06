/** The operators' view: lists of all tenants, filters in the address, and who sees it. */

import { expect, test } from "@playwright/test";
import {
  AS_OF,
  fakeEntry,
  fakeGroups,
  fakeHandler,
  fakeOperatorJob,
  fakeQueue,
  fakeWebhook,
  jobId,
  mockList,
  OPERATOR,
  row,
} from "./operations-mocks";
import { accessible, open } from "./support";

test("an operator finds the jobs of all tenants in the navigation", async ({ page }) => {
  await open(page, "/", OPERATOR);
  await page.getByRole("link", { name: "Operations" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Operations");
  await expect(page).toHaveTitle(/^Jobs - Operations/);
  await expect(page.getByText(/^As of /)).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(0);
});

test("other users have no such entry, and are told whom to ask", async ({ page }) => {
  await open(page, "/operations/queues");
  await expect(page.getByText("Only operators see this page")).toBeVisible();
  await expect(page.getByRole("navigation").getByRole("link", { name: "Operations" })).toHaveCount(0);
  await accessible(page, "operations-refused");
});

test("the filters of jobs are in the address, and the back button returns to the previous ones", async ({
  page,
}) => {
  const waitingFor = { reason: "handler_unavailable", since: AS_OF, nextTry: null };
  const queries = await mockList(page, "/api/operations/jobs", (query) => ({
    jobs: [
      fakeOperatorJob(1, { tenant: query.get("tenant") ?? "a-tenant-with-a-rather-long-name" }),
      fakeOperatorJob(2, { status: "running", counts: null, finishedAt: null, waitingFor } as object),
      fakeOperatorJob(3, {
        status: "failed",
        errorCode: "too_many_failures",
        attempts: 2,
        counts: { succeeded: 4, failed: 1_200, skipped: 0 },
      }),
    ],
    nextCursor: query.has("cursor") ? null : "next",
  }));
  await page.route("**/config.json", async (route) => {
    const response = await route.fetch();
    const json = { ...(await response.json()), runbookUrl: "https://git.example.com/runbook.md" };
    await route.fulfill({ response, json });
  });
  await open(page, "/operations/jobs?status=failed", OPERATOR);
  await expect(page.getByLabel("Status")).toHaveValue("failed");
  const waiting = row(page, "The handler does not respond");
  await expect(waiting).toContainText("Running");
  await expect(waiting.getByRole("link", { name: "Runbook: handler_unavailable" })).toHaveAttribute(
    "href",
    "https://git.example.com/runbook.md#handler_unavailable",
  );
  await accessible(page, "operations-jobs");
  expect(queries.at(-1)?.get("status")).toBe("failed");
  await page.getByRole("textbox", { name: "Tenant" }).fill("acme");
  await page.getByRole("textbox", { name: "Tenant" }).press("Enter");
  await expect(page).toHaveURL(/status=failed&tenant=acme$/);
  await expect.poll(() => queries.at(-1)?.get("tenant")).toBe("acme");
  await page.getByLabel("Order").selectOption("Unfinished, oldest first");
  await expect.poll(() => queries.at(-1)?.get("order")).toBe("oldest");
  await page.getByLabel("Accepted").selectOption("In the last hour");
  await expect.poll(() => queries.at(-1)?.has("createdAfter")).toBe(true);
  await page.goBack();
  await expect(page.getByLabel("Accepted")).toHaveValue("");
  await page.getByRole("button", { name: "Show more" }).click();
  await expect(page.getByRole("button", { name: "Show more" })).toHaveCount(0);
  expect(queries.some((query) => query.get("cursor") === "next")).toBe(true);
  await page.getByRole("button", { name: "Clear all filters" }).click();
  await expect(page).toHaveURL(/\/operations\/jobs$/);
});

test("the failures of one job are one click from it", async ({ page }) => {
  const counts = { succeeded: 4, failed: 1_200, skipped: 0 };
  await mockList(page, "/api/operations/jobs", () => ({
    jobs: [fakeOperatorJob(3, { counts })],
    nextCursor: null,
  }));
  const queries = await mockList(page, "/api/operations/failures", () => fakeGroups("timeout"));
  await open(page, "/operations/jobs", OPERATOR);
  await page.getByRole("link", { name: /^1,200 failed items of job/ }).click();
  await expect(page.getByText(/^Only the job that was accepted at/)).toBeVisible();
  const query = () => Object.fromEntries(queries[0] ?? []);
  await expect.poll(query).toEqual({
    type: "invite",
    tenant: "acme",
    createdAfter: "2026-07-01T09:00:00.12Z",
    createdBefore: "2026-07-01T09:00:00.121Z",
  });
});

test("queues have the age of their oldest message, and handlers their breakers", async ({ page }) => {
  await mockList(page, "/api/operations/queues", () => ({
    queues: [
      fakeQueue("chunkNormal", 41_200, { inFlight: 8, delayed: 2, oldestSeconds: 7_300 }),
      fakeQueue("complete", 0),
      fakeQueue("chunkDeadLetters", 1, { oldestSeconds: 86_400 }),
    ],
  }));
  const breaker = { state: "unreachable", openSince: AS_OF, nextTry: AS_OF, unansweredSince: AS_OF } as const;
  await mockList(page, "/api/operations/handlers", () => ({
    handlers: [
      fakeHandler("enrich", { itemsPerSecond: 50, concurrencyNow: 2 }),
      fakeHandler("invite", { breaker, parkedChunks: 40, hasMoreParkedChunks: true }),
    ],
    nextCursor: null,
  }));
  await open(page, "/operations/queues", OPERATOR);
  await expect(row(page, "Chunks, normal priority")).toContainText("2 hours");
  await expect(row(page, "Dead letters of chunks").getByText("Dead letters", { exact: true })).toBeVisible();
  await accessible(page, "operations-queues");
  await page.getByRole("link", { name: "Handlers" }).click();
  await expect(row(page, "invite")).toContainText("Open: no answer to pings");
  await expect(row(page, "invite")).toContainText("40 or more");
  await expect(row(page, "enrich")).toContainText("Lowered from 10");
  await accessible(page, "operations-handlers");
});

test("the webhooks of a tenant have their health, and the log has who did what and why", async ({ page }) => {
  await mockList(page, "/api/operations/webhooks", (query) => ({
    tenant: query.get("tenant"),
    webhooks: [
      fakeWebhook("hooks.example.com"),
      fakeWebhook("gone.example.com", {
        status: "disabled",
        disabledReason: "gone",
        disabledAt: AS_OF,
        failures: 12,
        failingSince: AS_OF,
      }),
    ],
  }));
  await mockList(page, "/api/operations/log", () => ({
    entries: [
      fakeEntry(1),
      fakeEntry(2, {
        action: "discardDeadLetter",
        scope: { letterId: "178-8f" },
        reason: null,
        result: null,
      }),
    ],
    nextCursor: null,
  }));
  await open(page, "/operations/webhooks", OPERATOR);
  await expect(page.getByText("Enter a tenant to see its webhooks.")).toBeVisible();
  await page.getByRole("textbox", { name: "Tenant" }).fill("acme");
  await page.getByRole("textbox", { name: "Tenant" }).press("Enter");
  await expect(row(page, "gone.example.com")).toContainText("12 failures since");
  await accessible(page, "operations-webhooks");
  await page.getByRole("link", { name: "Log", exact: true }).click();
  await expect(row(page, "Discarded a dead letter")).toContainText("Unknown: read the jobs");
  await page.getByText("2 jobs", { exact: true }).click();
  await expect(row(page, "The mail server is back.")).toContainText(jobId(2));
  await accessible(page, "operations-log");
});

test("an empty list says so, and an error has a way out", async ({ page }) => {
  let answer: object | number = { jobs: [], nextCursor: "next" };
  await mockList(page, "/api/operations/jobs", () => answer);
  await open(page, "/operations/jobs", OPERATOR);
  await expect(page.getByText(/^Nothing matches among what was read so far/)).toBeVisible();
  answer = { jobs: [], nextCursor: null };
  await page.getByRole("button", { name: "Show more" }).click();
  await expect(page.getByText("No job matches.")).toBeVisible();
  await accessible(page, "operations-empty");
  answer = 403;
  await page.getByRole("button", { name: "Refresh" }).click();
  await expect(page.getByRole("alert")).toBeVisible();
  answer = { jobs: [fakeOperatorJob(1)], nextCursor: null };
  await page.getByRole("alert").getByRole("button", { name: "Try again" }).click();
  await expect(row(page, jobId(1))).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(0);
});
