/** The actions of operators: retries, replays and discards, each with a reason; and read-only operators, who have none. */

import { expect, type Page, test } from "@playwright/test";
import {
  AS_OF,
  fakeDeadLetter,
  fakeGroups,
  fakePause,
  jobId,
  makeReadOnly,
  mockChanges,
  mockList,
  OPERATOR,
  row,
} from "./operations-mocks";
import { accessible, open } from "./support";

/** Gives the reason in the dialog, and confirms. */
async function confirm(page: Page, button: string, reason: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: button }).click();
  await expect(dialog.getByText("Say why you do this.")).toBeVisible();
  await expect(dialog.getByLabel("Reason")).toBeFocused();
  await dialog.getByLabel("Reason").fill(reason);
  await dialog.getByRole("button", { name: button }).click();
  await expect(dialog).toHaveCount(0);
}

test("exactly one group of failures is retried, with its reason, and each refusal is explained", async ({
  page,
}) => {
  await mockList(page, "/api/operations/failures", () => fakeGroups("handler_unavailable", "timeout"));
  const changes = await mockChanges(page, () => ({
    jobs: [
      { jobId: jobId(1), outcome: "started", attempts: 2, problem: null, detail: null },
      { jobId: jobId(2), outcome: "refused", attempts: null, problem: "not-ended", detail: "made up" },
    ],
  }));
  await open(page, "/operations/failures", OPERATOR);
  await expect(page.getByText(/^Read from 2 reports\. 3 failed items are not counted/)).toBeVisible();
  await accessible(page, "operations-failures");
  await row(page, "handler_unavailable").getByRole("button").click();
  await expect(page.getByRole("dialog")).toContainText("Retry 1,204 items of 2 jobs?");
  await accessible(page, "operations-retry");
  await confirm(page, "Retry these", "The mail server is back.");
  await expect(page.getByText("1 of 2 jobs started.")).toBeVisible();
  await expect(page.getByRole("heading", { level: 2, name: "Failures by code" })).toBeFocused();
  await page.getByText("Not started", { exact: true }).click();
  await expect(page.getByRole("listitem")).toHaveText(`${jobId(2)}: made up`);
  await accessible(page, "operations-retried");
  expect(changes).toEqual([
    {
      path: "/api/operations/retries",
      reason: null,
      body: {
        type: "invite",
        code: "handler_unavailable",
        jobIds: [jobId(1), jobId(2)],
        asOf: AS_OF,
        reason: "The mail server is back.",
      },
    },
  ]);
});

test("a dialog that is left by keyboard changes nothing, and returns to its button", async ({ page }) => {
  await mockList(page, "/api/operations/failures", () => fakeGroups("timeout"));
  const changes = await mockChanges(page, () => 500);
  await open(page, "/operations/failures", OPERATOR);
  const button = row(page, "timeout").getByRole("button");
  await button.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(button).toBeFocused();
  expect(changes).toEqual([]);
});

test("dead letters are replayed and discarded with a reason", async ({ page }) => {
  const later = { replay: "later", jobStatus: "running" } as const;
  const { self } = fakeDeadLetter(2).links;
  await mockList(page, "/api/dead-letters", () => ({
    deadLetters: [
      fakeDeadLetter(1),
      fakeDeadLetter(2, { ...later, links: { self, replay: null } }),
      fakeDeadLetter(3, { kind: "unreadable", tenant: null, jobId: null, firstItem: null, itemCount: null }),
    ],
    nextCursor: null,
  }));
  const changes = await mockChanges(page, () => ({ replayed: ["1", "2"], left: ["3"] }));
  await open(page, "/operations/dead-letters", OPERATOR);
  await expect(row(page, "It can be replayed once its job has ended.").getByRole("button")).toHaveText([
    "Discard",
  ]);
  await accessible(page, "operations-dead-letters");
  await row(page, jobId(1))
    .getByRole("button", { name: /^Replay/ })
    .click();
  await confirm(page, "Replay", "The bug is fixed.");
  await expect(page.getByText("The dead letter was replayed.")).toBeVisible();
  await row(page, "Unreadable message")
    .getByRole("button", { name: /^Discard/ })
    .click();
  await accessible(page, "operations-discard");
  await confirm(page, "Discard", "It was a test.");
  await expect(page.getByText("The dead letter was discarded.")).toBeVisible();
  await page.getByRole("link", { name: `Job ${jobId(1)}` }).click();
  await page.getByRole("button", { name: "Replay all of this job" }).click();
  await confirm(page, "Replay all of this job", "Deployed.");
  await expect(page.getByText("2 dead letters were replayed. 1 could not be.")).toBeVisible();
  expect(changes).toEqual([
    { path: `${fakeDeadLetter(1).links.self}/replay`, reason: "The bug is fixed.", body: null },
    { path: fakeDeadLetter(3).links.self, reason: "It was a test.", body: null },
    { path: "/api/dead-letters/replay", reason: null, body: { jobId: jobId(1), reason: "Deployed." } },
  ]);
});

test("a read-only operator reads, and has no button that changes something", async ({ page }) => {
  await makeReadOnly(page);
  await mockList(page, "/api/operations/failures", () => fakeGroups("timeout"));
  await mockList(page, "/api/dead-letters", () => ({ deadLetters: [fakeDeadLetter(1)], nextCursor: null }));
  await open(page, "/operations/failures", OPERATOR);
  await expect(page.getByText("Only operators retry, replay, discard and pause.")).toBeVisible();
  await expect(row(page, "timeout").getByRole("button")).toHaveCount(0);
  await accessible(page, "operations-read-only");
  await page.getByRole("link", { name: "Dead letters" }).click();
  await expect(row(page, jobId(1))).toBeVisible();
  await expect(row(page, jobId(1)).getByRole("button")).toHaveCount(0);
  await page.getByRole("link", { name: `Job ${jobId(1)}` }).click();
  await expect(page).toHaveURL(/jobId=/);
  await expect(page.getByRole("button", { name: "Replay all of this job" })).toHaveCount(0);
});

test("a tenant is paused with a reason, and a pause is ended", async ({ page }) => {
  const tenant = fakePause("", { pauseId: jobId(8), type: null, tenant: "acme" });
  await mockList(page, "/api/operations/pauses", () => ({ pauses: [fakePause("invite"), tenant] }));
  const changes = await mockChanges(page, () => tenant);
  await open(page, "/operations/pauses", OPERATOR);
  await expect(row(page, "Job type invite")).toBeVisible();
  await accessible(page, "operations-pauses");
  const form = page.getByRole("form", { name: "New pause" });
  await form.getByRole("combobox").first().selectOption("A tenant");
  await page.getByLabel("Name of the tenant").fill("acme");
  await page.getByRole("button", { name: "Pause..." }).click();
  await expect(page.getByRole("dialog")).toContainText("Pause tenant acme?");
  await confirm(page, "Pause", "Too many rows.");
  await expect(page.getByText(/^Paused until /)).toBeVisible();
  await row(page, "Job type invite").getByRole("button").click();
  await confirm(page, "End", "Repaired.");
  await expect(page.getByText("The pause has ended.")).toBeVisible();
  const [made, ended] = changes;
  expect(made?.body).toMatchObject({ tenant: "acme", reason: "Too many rows." });
  expect(Date.parse(String(made?.body?.until)) - Date.now()).toBeLessThanOrEqual(3_600_000);
  expect(ended).toEqual({ path: `/api/operations/pauses/${jobId(9)}`, reason: "Repaired.", body: null });
});
