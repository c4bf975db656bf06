/** Registered job types, and the images of jobs. */

import { afterEach, beforeEach, expect, expectTypeOf, test, vi } from "vitest";
import type { JobType, JobTypeRequest } from "../src/index.js";
import { JOB_ID, problem, rejection } from "./messages.js";
import { TestServer } from "./server.js";

let server: TestServer;

beforeEach(async () => {
  server = await TestServer.start();
  // No jitter, so the delays are the shortest.
  vi.spyOn(Math, "random").mockReturnValue(0);
});

afterEach(() => server.stop());

const PUT = "PUT /api/job-types/invite";
const request: JobTypeRequest = { target: { url: "https://handlers.example.com/invite" }, concurrency: 5 };
const document = { name: "invite", description: null, input: "file", optionsSchema: null, itemSchema: null };
const stored = { status: 202, headers: { etag: '"7"' }, body: document };

test("getJobType returns the document with its ETag, and escapes the name", async () => {
  server.script("GET /api/job-types/in%2Fvite", { ...stored, status: 200 });
  expect(await server.client.getJobType("in/vite")).toEqual({ ...document, etag: '"7"' });
});

test("every user reads the whole document but the handler", () => {
  expectTypeOf<JobType["concurrency"]>().toEqualTypeOf<number>();
  expectTypeOf<JobType["candidate"]>().not.toEqualTypeOf<undefined>();
  expectTypeOf<undefined>().toExtend<JobType["target"]>();
  expectTypeOf<JobType>().not.toHaveProperty("hasOutput");
});

test("putJobType sends the request, and retries a lost reply", async () => {
  server.script(PUT, "cut", stored);
  expect(await server.client.putJobType("invite", request)).toEqual({ ...document, etag: '"7"' });
  const [first, second] = server.seen(PUT);
  expect(JSON.parse(String(first?.body))).toEqual(request);
  expect(String(second?.body)).toBe(String(first?.body));
  expect(first?.headers["if-match"]).toBeUndefined();
});

test("a conditional putJobType is not retried, because the first one may have changed the version", async () => {
  server.script(PUT, "cut", stored);
  const call = server.client.putJobType("invite", request, { ifMatch: '"6"' });
  expect(await rejection(call)).toMatchObject({ name: "NetworkError" });
  expect(server.seen(PUT).map(({ headers }) => headers["if-match"])).toEqual(['"6"']);
});

test("putJobType rejects with every error of the registration", async () => {
  const errors = [{ pointer: "/target/url", code: "target_not_allowed", detail: "not allowed" }];
  server.script(PUT, problem(422, "invalid-request", { errors }));
  expect(await rejection(server.client.putJobType("invite", request))).toMatchObject({ errors });
});

test("deleteJobType is sent once, with the given ETag", async () => {
  const call = "DELETE /api/job-types/invite";
  server.script(call, { status: 204 }, "cut");
  expect(await server.client.deleteJobType("invite", { ifMatch: '"7"' })).toBeUndefined();
  expect(await rejection(server.client.deleteJobType("invite"))).toMatchObject({ name: "NetworkError" });
  expect(server.seen(call).map(({ headers }) => headers["if-match"])).toEqual(['"7"', undefined]);
});

test.each(["a redirect", "a link"])("image follows %s to the storage, which gets no token", async (kind) => {
  // Another origin than the API's.
  const url = `${server.url.replace("127.0.0.1", "localhost")}/s3/17-320.webp?signed`;
  const call = `GET /api/jobs/${JOB_ID}/images/17-320.webp`;
  server.script(
    call,
    kind === "a link"
      ? { status: 200, body: { url } }
      : { status: 303, headers: { location: url }, body: undefined },
  );
  server.script("GET /s3/17-320.webp", {
    status: 200,
    headers: { "content-type": "image/webp" },
    body: "RIFF",
  });
  const image = await server.client.image(JOB_ID, "17-320.webp");
  expect([image.type, await image.text()]).toEqual(["image/webp", "RIFF"]);
  expect(server.seen(call)[0]?.headers.authorization).toBe("Bearer the-token");
  expect(server.seen("GET /s3/17-320.webp")[0]?.headers.authorization).toBeUndefined();
});

test("the name of an image cannot leave the job", async () => {
  const call = `GET /api/jobs/${JOB_ID}/images/..%2F..%2Foutput`;
  server.script(call, problem(404, "not-found"));
  expect(await rejection(server.client.image(JOB_ID, "../../output"))).toMatchObject({ kind: "not-found" });
  expect(server.seen(call)).toHaveLength(1);
});
