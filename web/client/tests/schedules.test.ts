/** Schedules: versions, and what is repeated after a lost reply. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ScheduleRequest } from "../src/index.js";
import { rejection } from "./messages.js";
import { TestServer } from "./server.js";

let server: TestServer;

beforeEach(async () => {
  server = await TestServer.start();
  // No jitter, so the delays are the shortest.
  vi.spyOn(Math, "random").mockReturnValue(0);
});

afterEach(() => server.stop());

const SCHEDULE = "/api/schedules/s%2F1";
const request: ScheduleRequest = { name: "nightly", cron: "30 2 * * *", job: { jobType: "export" } };
const document = { scheduleId: "s/1", name: "nightly" };
const stored = { status: 200, headers: { etag: '"7"' }, body: document };

test("getSchedule and putSchedule return the ETag, and repeat a lost reply", async () => {
  const { client } = server;
  server.script(`GET ${SCHEDULE}`, "cut", stored);
  server.script(`PUT ${SCHEDULE}`, "cut", stored);
  expect(await client.getSchedule("s/1")).toEqual({ ...document, etag: '"7"' });
  expect(await client.putSchedule("s/1", request)).toEqual({ ...document, etag: '"7"' });
});

test("a call that a repetition would change is sent once", async () => {
  const { client } = server;
  const options = { ifMatch: '"6"' };
  const calls: [string, () => Promise<unknown>][] = [
    ["POST /api/schedules", () => client.createSchedule(request)],
    [`POST ${SCHEDULE}/trigger`, () => client.triggerSchedule("s/1")],
    [`PUT ${SCHEDULE}`, () => client.putSchedule("s/1", request, options)],
    [`DELETE ${SCHEDULE}`, () => client.deleteSchedule("s/1", options)],
  ];
  for (const [call, send] of calls) {
    server.script(call, "cut", stored);
    expect(await rejection(send())).toMatchObject({ name: "NetworkError" });
    expect(server.seen(call)).toHaveLength(1);
  }
});

test("the lists have their paths", async () => {
  const { client } = server;
  server.script("GET /api/schedules", { status: 200, body: { schedules: [] } });
  server.script(`GET ${SCHEDULE}/occurrences`, { status: 200, body: { occurrences: [] } });
  expect(await client.listSchedules()).toEqual({ schedules: [] });
  expect(await client.listOccurrences("s/1", { limit: 5 })).toEqual({ occurrences: [] });
});
