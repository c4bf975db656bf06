// A test server with Longshore's contract: uploads work (see uploads.ts), other calls are scripted by the
// test.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Client, createClient } from "../src/index.js";
import { problem, type Reply, type Request } from "./messages.js";
import { Uploads } from "./uploads.js";

/** A reply, or none: the connection is cut before or after the request is handled, or stays silent. */
export type Scripted = Reply | "cut" | "taken-and-cut" | "silent" | "as-usual";

export class TestServer {
  readonly requests: Request[] = [];
  readonly #scripts: { readonly call: string; readonly replies: Scripted[] }[] = [];
  readonly #server = createServer((request, response) => this.#serve(request, response));
  url = "";
  uploads = new Uploads("");
  client: Client = createClient({ baseUrl: "" });

  static async start(): Promise<TestServer> {
    const server = new TestServer();
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    server.url = `http://127.0.0.1:${(server.#server.address() as AddressInfo).port}`;
    server.uploads = new Uploads(server.url);
    server.client = createClient({ baseUrl: server.url, token: () => "the-token" });
    return server;
  }

  /**
   * Adds the next replies to a call, such as `GET /api/jobs/1` (with any query) or `PUT /s3/*`. Later calls
   * are answered as usual.
   */
  script(call: string, ...replies: Scripted[]): void {
    this.#scripts.push({ call, replies });
  }

  /** Returns all requests of a call so far. */
  seen(call: string): Request[] {
    return this.requests.filter((request) => matches(call, request));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of message) chunks.push(chunk);
    } catch {
      return; // The client has disconnected.
    }
    const { method = "", url: path = "", headers } = message;
    const request = { method, path, headers, body: Buffer.concat(chunks) };
    this.requests.push(request);
    const scripted = this.#scriptFor(request);
    if (scripted === "taken-and-cut") this.#work(request);
    if (scripted === "cut" || scripted === "taken-and-cut") message.socket.destroy();
    if (typeof scripted === "string" && scripted !== "as-usual") return;
    const reply = scripted === "as-usual" ? this.#work(request) : scripted;
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(typeof reply.body === "string" ? reply.body : reply.body && JSON.stringify(reply.body));
  }

  #scriptFor(request: Request): Scripted {
    const script = this.#scripts.find(({ call, replies }) => replies.length > 0 && matches(call, request));
    return script?.replies.shift() ?? "as-usual";
  }

  #work(request: Request): Reply {
    return this.uploads.answer(request) ?? problem(404, "not-found");
  }
}

/** Waits until a condition holds, while server and client run. A fake clock stands still. */
export async function until(holds: () => boolean): Promise<void> {
  const limit = performance.now() + 5_000;
  while (!holds()) {
    if (performance.now() > limit) throw new Error(`It never came to hold: ${holds}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function matches(call: string, request: Request): boolean {
  const made = `${request.method} ${request.path.split("?")[0]}`;
  return call.endsWith("*") ? made.startsWith(call.slice(0, -1)) : made === call;
}
