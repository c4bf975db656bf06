/** Mocked documents of job types, for states that depend on a handler, and of jobs that have images. */

import type { Page } from "@playwright/test";
import type { Job, JobType } from "longshore-client";
import { mockResult } from "./mocks";

const AT = "2026-07-01T09:00:00Z";

/** Returns a job type as every user sees it. */
export function fakeType(change: Partial<JobType> = {}): JobType {
  return {
    name: "invite",
    description: "Sends invitations to an event.",
    input: "file",
    optionsSchema: {
      type: "object",
      required: ["event"],
      properties: {
        event: { type: "string", title: "Event", maxLength: 80 },
        language: { enum: ["de", "en"], title: "Language", default: "en" },
        reminders: { type: "integer", title: "Reminders", minimum: 0, maximum: 5 },
        quiet: { type: "boolean", title: "No confirmation", default: false },
      },
    },
    itemSchema: null,
    outputSchema: null,
    itemsPerSecond: 14,
    status: "active",
    batch: { items: 50, bytes: 1_048_576, timeoutSeconds: 20 },
    concurrency: 5,
    tries: 5,
    maxOutageSeconds: 21_600,
    modes: ["run"],
    updatedAt: AT,
    candidate: null,
    ...change,
  };
}

/** Returns a job type as operators see it. */
export function operatorsType(change: Partial<JobType> = {}): JobType {
  return fakeType({
    target: { function: "arn:aws:lambda:eu-central-1:123456789012:function:invite:live" },
    ...change,
  });
}

/** Answers reads of the list and of each of these types. Returns the names of deleted ones. */
export async function mockJobTypes(page: Page, types: readonly JobType[]): Promise<string[]> {
  const deleted: string[] = [];
  const left = () => types.filter(({ name }) => !deleted.includes(name));
  await page.route(/\/api\/job-types(\?|$)/, (route) =>
    route.fulfill({ json: { jobTypes: left(), nextCursor: null } }),
  );
  await page.route(/\/api\/job-types\/[^/]+$/, async (route) => {
    const name = new URL(route.request().url()).pathname.split("/").at(-1);
    const found = left().find((type) => type.name === name);
    if (!found) return route.fulfill({ status: 404, json: { message: "Made up" } });
    if (route.request().method() !== "DELETE")
      return route.fulfill({ json: found, headers: { etag: '"1"' } });
    deleted.push(found.name);
    return route.fulfill({ status: 204 });
  });
  return deleted;
}

/** Refuses creations of jobs with these errors of fields. */
export async function refuseCreate(page: Page, errors: { pointer: string; detail: string }[]): Promise<void> {
  await page.route(/\/api\/jobs$/, (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    const body = {
      type: "/api/problems/invalid-request",
      title: "Made up",
      status: 422,
      errors: errors.map((error) => ({ code: "invalid_option", ...error })),
    };
    return route.fulfill({ status: 422, contentType: "application/problem+json", json: body });
  });
}

/** A PNG image of one pixel. */
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Answers the result of an image job: images of two sizes, and one that failed. Returns the names of files read. */
export async function mockImages(page: Page, { jobId }: Job, images: number): Promise<string[]> {
  const read: string[] = [];
  const file = (item: number, width: number) => ({ name: `${item}-${width}.png`, width, height: width });
  const rows = Array.from({ length: images }, (_, at) => ({
    number: at + 1,
    output: { width: 4000, height: 4000, files: [file(at + 1, 1280), file(at + 1, 320)] },
  }));
  const failure = {
    number: images + 1,
    sheetRow: null,
    code: "not_found",
    field: "url",
    message: "404",
    row: { url: "https://pictures.example.com/missing.jpg" },
  };
  const of = (path: string) => `**/api/jobs/${jobId}/${path}`;
  await mockResult(page, jobId, { results: images, failures: [failure] });
  await page.route(of("results?*"), (route) => route.fulfill({ json: { results: rows, nextCursor: null } }));
  await page.route(of("images/*"), (route) => {
    read.push(new URL(route.request().url()).pathname.split("/").at(-1) ?? "");
    return route.fulfill({ contentType: "image/png", body: PIXEL });
  });
  return read;
}
