/** Webhooks: versions, and what is repeated after a lost reply. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { WebhookRequest } from "../src/index.js";
import { rejection } from "./messages.js";
import { TestServer } from "./server.js";

let server: TestServer;

beforeEach(async () => {
  server = await TestServer.start();
  // No jitter, so the delays are the shortest.
  vi.spyOn(Math, "random").mockReturnValue(0);
});

afterEach(() => server.stop());

const WEBHOOK = "/api/webhooks/w%2F1";
const request: WebhookRequest = { url: "https://example.com/hooks", eventTypes: ["job.failed"] };
const document = { webhookId: "w/1", url: request.url, status: "active" };
const stored = { status: 200, headers: { etag: '"7"' }, body: document };

test("getWebhook, putWebhook and testWebhook return the ETag, and repeat a lost reply", async () => {
  const { client } = server;
  server.script(`GET ${WEBHOOK}`, "cut", stored);
  server.script(`PUT ${WEBHOOK}`, "cut", stored);
  server.script(`POST ${WEBHOOK}/test`, "cut", { ...stored, status: 202 });
  for (const call of [
    () => client.getWebhook("w/1"),
    () => client.putWebhook("w/1", request),
    () => client.testWebhook("w/1"),
  ]) {
    expect(await call()).toEqual({ ...document, etag: '"7"' });
  }
  expect(JSON.parse(String(server.seen(`PUT ${WEBHOOK}`)[1]?.body))).toEqual(request);
});

test("a call that a repetition would change is sent once, with the given ETag", async () => {
  const { client } = server;
  const options = { ifMatch: '"6"' };
  const calls: [string, () => Promise<unknown>][] = [
    ["POST /api/webhooks", () => client.createWebhook(request)],
    [`PUT ${WEBHOOK}`, () => client.putWebhook("w/1", request, options)],
    [`DELETE ${WEBHOOK}`, () => client.deleteWebhook("w/1", options)],
    [`POST ${WEBHOOK}/test`, () => client.testWebhook("w/1", options)],
    [`POST ${WEBHOOK}/secret`, () => client.rotateWebhookSecret("w/1", options)],
  ];
  for (const [call, send] of calls) {
    server.script(call, "cut", stored);
    expect(await rejection(send())).toMatchObject({ name: "NetworkError" });
    expect(server.seen(call)).toHaveLength(1);
    if (call.endsWith("webhooks")) continue;
    expect(server.seen(call)[0]?.headers["if-match"]).toBe('"6"');
  }
});

test("a replay is repeated after a lost reply, and names its time", async () => {
  const call = `POST ${WEBHOOK}/replay`;
  server.script(call, "cut", { status: 202, body: undefined });
  expect(await server.client.replayDeliveries("w/1", "2026-07-01T08:00:00Z")).toBeUndefined();
  expect(JSON.parse(String(server.seen(call)[1]?.body))).toEqual({ since: "2026-07-01T08:00:00Z" });
});
