// The endpoint in Node, over HTTP of this process.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, beforeEach, mock, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { endpoint } from "../https-endpoint.mjs";
import { batch, checked, meets, ping } from "./support/contract.mjs";

const OLD = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NEW = `whsec_${"CQkJ".repeat(8)}`;
mock.method(console, "error", () => {});
const server = createServer(endpoint);

before(() => once(server.listen(0, "127.0.0.1"), "listening"));
beforeEach(() => { process.env.LONGSHORE_SECRETS = OLD; });
after(() => server.close());

/** Returns the headers of a body that this secret signs. */
function headersOf(body, secret, at = new Date()) {
  const seconds = `${Math.floor(at.getTime() / 1000)}`;
  const signature = new Webhook(secret).sign("msg_1", at, body);
  return { "webhook-id": "msg_1", "webhook-timestamp": seconds, "webhook-signature": signature };
}

/** Returns status, media type and document of a response. */
async function call(body, headers) {
  const url = `http://127.0.0.1:${server.address().port}/`;
  const response = await fetch(url, { method: "POST", body, headers: { ...headers, connection: "close" } });
  return { status: response.status, type: response.headers.get("content-type"), document: await response.json() };
}

test("a signed batch is answered, with characters of several bytes as they arrived", async () => {
  const request = batch([{ email: "cem@example.com", country: "Türkiye" }, { email: "bob" }]);
  const body = JSON.stringify(request);
  const { status, type, document } = await call(body, headersOf(body, OLD));
  assert.deepEqual([status, type], [200, "application/json"]);
  const [first, second] = checked(request, document);
  assert.deepEqual([first.output, second.code], [{ email: "cem@example.com", country: "TR" }, "bad_email"]);
});

test("a ping is answered, with either secret of a rotation", async () => {
  process.env.LONGSHORE_SECRETS = `${NEW} ${OLD}`;
  const body = JSON.stringify(ping());
  for (const secret of [OLD, NEW]) {
    const { status, document } = await call(body, headersOf(body, secret));
    assert(status === 200 && meets("ping-answer", document));
  }
});

test("a call without a valid signature is refused with 401", async () => {
  const body = JSON.stringify(ping());
  const refused = [{}, headersOf(body, NEW), headersOf(`${body} `, OLD), headersOf(body, OLD, new Date(0))];
  for (const headers of refused) assert.equal((await call(body, headers)).status, 401);
});

test("a body above the limit is refused with 413, and one below it is read", async () => {
  assert.equal((await call(Buffer.alloc((16 << 20) + 1), {})).status, 413);
  assert.equal((await call(Buffer.alloc(16 << 20), {})).status, 401);
});

test("an exception is a 500 without the message, and the endpoint goes on", async () => {
  for (const body of ["ann@example.com", '{"schema":"longshore.items/2"}', "{}", "null"]) {
    const { status, document } = await call(body, headersOf(body, OLD));
    assert.equal(status, 500, body);
    assert.doesNotMatch(JSON.stringify(document), /ann@/);
  }
  process.env.LONGSHORE_SECRETS = "whsec_%";
  assert.equal((await call("{}", headersOf("{}", OLD))).status, 500);
});
