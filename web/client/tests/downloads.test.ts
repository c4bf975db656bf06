/** Downloads of files by their links. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createClient } from "../src/index.js";
import { JOB_ID } from "./messages.js";
import { TestServer } from "./server.js";

let server: TestServer;

beforeEach(async () => {
  server = await TestServer.start();
});

afterEach(() => server.stop());

test("failuresCsv reads the presigned URL without a token", async () => {
  const output = (failed: object | null) => ({ status: 200, body: { files: { failed } } });
  server.script(
    `GET /api/jobs/${JOB_ID}/output`,
    output({ url: `${server.url}/s3/failed.csv` }),
    output(null),
  );
  server.script("GET /s3/failed.csv", {
    status: 200,
    headers: { "content-type": "text/csv" },
    body: "row,code\n1,bad\n",
  });
  expect(await (await server.client.failuresCsv(JOB_ID)).text()).toBe("row,code\n1,bad\n");
  expect(server.seen("GET /s3/failed.csv")[0]?.headers.authorization).toBeUndefined();

  const call = `GET /api/jobs/${JOB_ID}/failures`;
  server.script(call, { status: 200, headers: { "content-type": "text/csv" }, body: "row,code\n" });
  expect(await (await server.client.failuresCsv(JOB_ID)).text()).toBe("row,code\n");
  expect(server.seen(call)[0]?.path).toContain("?format=csv");
});

test("failuresWorkbook is the answer of the API", async () => {
  const call = `GET /api/jobs/${JOB_ID}/failures`;
  const type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
  server.script(call, { status: 200, headers: { "content-type": type }, body: "PK" });
  const workbook = await server.client.failuresWorkbook(JOB_ID);
  expect([await workbook.text(), workbook.type]).toEqual(["PK", type]);
  expect(server.seen(call)[0]?.path).toContain("?format=xlsx");
});

test("an expired link is an error with S3's status", async () => {
  server.script("GET /s3/old.csv", {
    status: 403,
    headers: { "content-type": "application/xml" },
    body: "<Error/>",
  });
  const call = server.client.download({ url: `${server.url}/s3/old.csv` });
  await expect(call).rejects.toMatchObject({ name: "ProblemError", kind: "gateway", status: 403 });
});

test("download returns the response's Blob without a copy", async () => {
  const body = new Blob(["a,b\n"], { type: "text/csv" });
  const answer = new Response("");
  vi.spyOn(answer, "blob").mockResolvedValue(body);
  const client = createClient({ baseUrl: server.url, fetch: async () => answer });
  expect(await client.download({ url: `${server.url}/s3/file.csv` })).toBe(body);
});
