// A receiver of Longshore's webhooks: verifies each call, and stores each event once, as a file named by its id.
//
// `WEBHOOK_SECRETS` has the secret, and during a rotation two of them, separated by a space; `INBOX` is a folder.
// It listens on `PORT` of 127.0.0.1, behind a proxy that terminates TLS.
import { randomUUID } from "node:crypto";
import { rename, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";

const WEBHOOKS = process.env.WEBHOOK_SECRETS.trim().split(/\s+/).map((secret) => new Webhook(secret));
const { INBOX, PORT } = process.env;
const MAX_BYTES = 64 << 10;
const EVENT_ID = /^[A-Za-z0-9_-]{1,256}$/;

/** Returns the body as it arrived, or nothing if it is too large. */
async function bodyOf(request) {
  const [chunks, size] = [[], { all: 0 }];
  for await (const chunk of request) if ((size.all += chunk.length) <= MAX_BYTES) chunks.push(chunk);
  return size.all <= MAX_BYTES ? Buffer.concat(chunks) : Buffer.alloc(0);
}

/** Returns the message of a call, or null if no secret has signed it within the last five minutes. */
function verified(body, headers) {
  for (const webhook of WEBHOOKS) {
    try {
      return webhook.verify(body, headers);
    } catch {}
  }
  return null;
}

/** Stores an event. Another delivery of it writes the same file again. */
async function store(id, body) {
  const partial = join(INBOX, `.${randomUUID()}`);
  await writeFile(partial, body);
  await rename(partial, join(INBOX, `${id}.json`));
}

async function answer(request) {
  const body = await bodyOf(request);
  const message = verified(body, request.headers);
  if (message === null) return [401, {}];
  if (message.type === "webhook.check") return [200, { challenge: message.data.challenge }];
  const id = request.headers["webhook-id"];
  if (!EVENT_ID.test(id)) return [400, {}];
  await store(id, body);
  return [200, {}];
}

createServer(async (request, response) => {
  const [status, document] = await answer(request).catch((error) => {
    console.error("an event is not stored:", error.message);
    return [500, {}];
  });
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(document));
}).listen(Number(PORT), "127.0.0.1");
