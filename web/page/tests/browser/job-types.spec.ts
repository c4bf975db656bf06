/** Registered job types: their list, the form of a run, what operators see, and jobs that wait or have images. */

import { expect, type Locator, type Page, test } from "@playwright/test";
import { handler } from "./handler";
import { fakeType, mockImages, mockJobTypes, operatorsType, refuseCreate } from "./job-type-mocks";
import { fakeJob, mockJob } from "./mocks";
import { accessible, complete, figure, fresh, open, pick } from "./support";

const item = (name: string) => JSON.stringify({ email: `${name}@example.com`, country: "France" });

/** Returns the width of an image's file; 0 if the browser has refused it. */
const naturalWidth = (image: Locator) => image.evaluate((it) => (it as HTMLImageElement).naturalWidth);

async function paste(page: Page, text: string): Promise<void> {
  await page.getByRole("radio", { name: /^Text/ }).check();
  await page.getByLabel("Items, one on each line").fill(text);
}

test("a registered type is found in the navigation, and runs over a file", async ({ page }) => {
  const { name, option } = await handler();
  await open(page);
  await page.getByRole("link", { name: "Job types" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Job types");
  await page.getByRole("link", { name, exact: true }).click();
  await pick(
    page,
    `${fresh("guests")}.csv`,
    "email,country\nann@example.com,France\nbob@example.com,France\n",
  );
  await page.getByLabel(option.title).fill(option.value);
  await page.getByRole("button", { name: "Start job" }).click();
  await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/);
  await complete(page);
  expect(await figure(page, "Succeeded")).toBe("2");
});

test("pasted items become the rows of a job, and the server's error is shown at its field", async ({
  page,
}) => {
  const { name, option } = await handler();
  await open(page, `/types/${name}`);
  await paste(page, `${item("ann")}\n${item("bob")}\n${item("cem")}\n`);
  // The page leaves patterns to the server.
  await page.getByLabel(option.title).fill(option.refused);
  await page.getByRole("button", { name: "Start job" }).click();
  await expect(page.getByText("Nothing was started.")).toBeVisible();
  await expect(page.getByLabel(option.title)).toBeFocused();
  await expect(page.getByLabel(option.title)).toHaveAttribute("aria-invalid", "true");
  await page.getByLabel(option.title).fill(option.value);
  await page.getByRole("button", { name: "Start job" }).click();
  await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("pasted.jsonl");
  await complete(page);
  expect(await figure(page, "Succeeded")).toBe("3");
});

test("without job types there is no entry in the navigation", async ({ page }) => {
  await mockJobTypes(page, []);
  await open(page, "/types");
  await expect(page.getByText("There are no job types yet.")).toBeVisible();
  await expect(page.getByRole("navigation").getByRole("link")).toHaveText([
    "Import",
    "Jobs",
    "Datasets",
    "Schedules",
    "Webhooks",
  ]);
});

test("the list and the form pass axe and fit a phone", async ({ page }) => {
  await mockJobTypes(page, [
    fakeType(),
    fakeType({
      name: "geocode",
      input: "dataset",
      optionsSchema: { type: "object", allOf: [] },
    }),
  ]);
  await open(page, "/types");
  await expect(page.getByRole("columnheader")).toHaveText(["Name", "Description", "Items"]);
  await accessible(page, "types");
  await page.getByRole("link", { name: "invite", exact: true }).click();
  await expect(page.getByLabel("Language")).toHaveValue("1");
  await page.getByRole("button", { name: "Start job" }).click();
  await expect(page.getByText("Choose a file.")).toBeVisible();
  await expect(page.getByText("Fill in this field.")).toBeVisible();
  await accessible(page, "type");
  await page.getByRole("link", { name: "All job types" }).click();
  await page.getByRole("link", { name: "geocode", exact: true }).click();
  await page.getByText("Schema of the options").click();
  await expect(page.getByText("Without a field: /allOf.")).toBeVisible();
  await accessible(page, "type-json");
});

test("markup in a schema is text, and does not widen the page", async ({ page }) => {
  const markup = "<img src=x onerror=alert(1)>";
  const long = "W".repeat(2_000);
  const property = { type: "string", title: markup + long, description: `<script>${long}</script>` };
  const schema = { type: "object", properties: { [long]: property, e: { enum: [markup, long] } } };
  await mockJobTypes(page, [operatorsType({ description: markup + long, optionsSchema: schema })]);
  page.on("dialog", () => expect("a script of a schema").toBe("not run"));
  await open(page, "/types/invite");
  await expect(page.getByText(markup).first()).toBeVisible();
  await expect(page.locator("main img")).toHaveCount(0);
  await accessible(page, "type-hostile");
});

test("errors without a field of the form are shown at the options", async ({ page }) => {
  await mockJobTypes(page, [fakeType({ input: "dataset", optionsSchema: null })]);
  await refuseCreate(page, [
    { pointer: "/options/deep/0", detail: "must be a text" },
    { pointer: "/source/dataset", detail: "there is no such dataset" },
  ]);
  await open(page, "/types/invite");
  await page.getByLabel("Dataset").fill("nowhere");
  await page.getByLabel("Options as JSON").fill('{"deep":[1]}');
  await page.getByRole("button", { name: "Start job" }).click();
  await expect(page.getByText("/deep/0: must be a text")).toBeVisible();
  await expect(page.getByText("there is no such dataset")).toBeVisible();
  await expect(page.getByLabel("Dataset")).toBeFocused();
});

test("operators see the handler, its limits and a refused change, and delete the type", async ({ page }) => {
  const candidate = { status: "refused", reason: "schemas is missing", at: "2026-07-01T09:00:00Z" } as const;
  const deleted = await mockJobTypes(page, [operatorsType({ candidate })]);
  await open(page, "/types");
  await expect(page.getByText("Change refused")).toBeVisible();
  await accessible(page, "types-operator");
  await page.getByRole("link", { name: "invite", exact: true }).click();
  await expect(page.getByText("function:invite:live").first()).toBeVisible();
  await expect(page.getByText("schemas is missing")).toBeVisible();
  await accessible(page, "type-operator");
  const button = page.getByRole("button", { name: "Delete job type" });
  await button.click();
  const dialog = page.getByRole("dialog", { name: "Delete the job type invite?" });
  await dialog.getByRole("button", { name: "Keep it" }).click();
  await expect(button).toBeFocused();
  expect(deleted).toEqual([]);
  await button.click();
  await dialog.getByRole("button", { name: "Delete job type" }).click();
  await expect(page.getByText("There are no job types yet.")).toBeVisible();
  expect(deleted).toEqual(["invite"]);
});

test("a type whose handler has not answered cannot run", async ({ page }) => {
  const candidate = { status: "pending", reason: null, at: "2026-07-01T09:00:00Z" } as const;
  await mockJobTypes(page, [operatorsType({ status: "pending", candidate })]);
  await open(page, "/types/invite");
  await expect(page.getByText("The handler has not answered yet.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Start job" })).toHaveCount(0);
});

test("a job that waits for its handler says why, and when the next try is", async ({ page }) => {
  const nextTry = new Date(Date.now() + 600_000).toISOString();
  const job = fakeJob(1, {
    jobType: "invite",
    status: "running",
    stage: "processing",
    percent: 41,
    waitingFor: { reason: "handler_unavailable", since: "2026-07-01T09:00:00Z", nextTry },
  });
  await mockJob(page, job);
  await open(page, `/jobs/${job.jobId}`);
  await expect(page.getByRole("main").getByText("The handler does not respond")).toBeVisible();
  await expect(page.getByRole("timer")).toHaveText("Next try in 10 minutes");
  await accessible(page, "waiting");
});

test("images are read once they come into view, and a click opens the largest one", async ({ page }) => {
  const job = fakeJob(1, { jobType: "image", counts: { succeeded: 40, failed: 1, skipped: 0, pending: 0 } });
  await mockJob(page, job);
  const read = await mockImages(page, job, 40);
  await page.setViewportSize({ width: 360, height: 640 });
  await open(page, `/jobs/${job.jobId}`);
  await expect(page.getByText("There is no image at this address.")).toBeVisible();
  const first = page.getByRole("button", { name: "Open Image 1 of people.csv" });
  await first.scrollIntoViewIfNeeded();
  await expect(first.locator("img")).toHaveAttribute("alt", "Image 1 of people.csv");
  expect(read).toContain("1-320.png");
  await expect.poll(() => naturalWidth(first.locator("img"))).toBe(1);
  await first.click();
  const dialog = page.getByRole("dialog", { name: "Image 1 of people.csv" });
  await expect(dialog.getByRole("img")).toBeVisible();
  await expect(dialog.getByRole("link", { name: "Download" })).toHaveAttribute("download", "1-1280.png");
  await expect.poll(() => naturalWidth(dialog.getByRole("img"))).toBe(1);
  // Reads are in order, so those of all thumbnails that were in view have ended.
  expect(read.at(-1)).toBe("1-1280.png");
  expect(read).not.toContain("40-320.png");
  await accessible(page, "image");
  await page.keyboard.press("Escape");
  await expect(first).toBeFocused();
  await accessible(page, "images");
});
