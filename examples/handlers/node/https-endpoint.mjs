// An HTTPS endpoint of Longshore: the listener `endpoint`, or `node https-endpoint.mjs` on port 8443.
// `LONGSHORE_SECRETS` has the signing secret, and during a rotation two of them, separated by a space.
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { fileURLToPath } from "node:url";
import { Webhook } from "standardwebhooks";
import { handler } from "./index.mjs";

const MAX_BYTES = 16 << 20; // A batch has at most 4 MiB of items; a single item can be larger.

/** Returns the body as it arrived, or null if it is too large. */
async function bodyOf(request) {
  const [chunks, size] = [[], { all: 0 }];
  for await (const chunk of request) if ((size.all += chunk.length) <= MAX_BYTES) chunks.push(chunk);
  return size.all <= MAX_BYTES ? Buffer.concat(chunks) : null;
}

const attempt = (verify) => { try { verify(); return true; } catch { return false; } };
const isSigned = (headers, body, secrets) => secrets.split(" ").map((secret) => new Webhook(secret))
  .some((webhook) => attempt(() => webhook.verify(body, headers, { jsonParse: false })));

async function answer(request) {
  const body = await bodyOf(request);
  if (body === null) return [413, { error: "too large" }];
  if (!isSigned(request.headers, body, process.env.LONGSHORE_SECRETS)) return [401, { error: "no valid signature" }];
  return [200, await handler(JSON.parse(body))];
}

/** Answers a request. After an exception it answers 500, and Longshore looks for the item that causes it. */
export async function endpoint(request, response) {
  const [status, document] = await answer(request).catch(({ name }) => [500, { error: name }]);
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(document));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [cert, key] = [process.env.TLS_CERTIFICATE, process.env.TLS_KEY].map((path) => readFileSync(path));
  createServer({ cert, key }, endpoint).listen(8443);
}
