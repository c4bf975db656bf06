// Uploads and S3 in the test server: signed lengths and checksums, expiring URLs, files that are accepted
// once.

import { createHash, randomUUID } from "node:crypto";
import { problem, type Reply, type Request, refusal } from "./messages.js";

interface Upload {
  readonly fileGuid: string;
  readonly fileName: string;
  readonly contentType: string;
  readonly size: number;
  readonly key: string;
  readonly parts: Map<number, Buffer>;
  content: Buffer | null;
  /** Not completed within a day; its parts are deleted. */
  abandoned: boolean;
  /** Status requests left until another call has completed the upload. */
  completing: number;
}

interface WantedPart {
  readonly partNumber: number;
  readonly sha256: string;
}

interface Signed {
  readonly upload: Upload;
  readonly partNumber: number | null;
  readonly size: number;
  readonly sha256: string | null;
}

export class Uploads {
  readonly all = new Map<string, Upload>();
  /** Valid URLs by signature. A test expires them with `clear`. */
  readonly signed = new Map<string, Signed>();
  multipartBytes = 1_000;
  partSize = 400;

  constructor(readonly origin: string) {}

  /** Returns the content of a received upload. */
  contentOf(fileGuid: string): string | undefined {
    return this.all.get(fileGuid)?.content?.toString();
  }

  /** Abandons an upload in parts, as the API does after a day. */
  abandon(fileGuid: string): void {
    const upload = this.all.get(fileGuid);
    if (!upload) throw new Error("There is no such upload");
    upload.abandoned = true;
    upload.parts.clear();
  }

  /** Starts a completion by another call, which takes this many status requests. */
  beginCompletion(fileGuid: string, asks: number): void {
    const upload = this.all.get(fileGuid);
    if (upload) upload.completing = asks;
  }

  answer(request: Request): Reply | undefined {
    const url = new URL(request.path, "http://any");
    if (request.method === "PUT") return this.#put(request, url);
    const [, , name, fileGuid = "", action] = url.pathname.split("/");
    if (name !== "uploads") return undefined;
    if (!fileGuid) return this.#create(request);
    const upload = this.all.get(fileGuid);
    if (!upload) return problem(404, "not-found");
    if (request.method === "GET") return { status: 200, body: this.#status(upload) };
    return action === "complete" ? this.#complete(upload) : this.#presign(upload, request);
  }

  #create({ headers, body }: Request): Reply {
    const key = String(headers["idempotency-key"]);
    const requested = JSON.parse(body.toString());
    const before = [...this.all.values()].find((upload) => upload.key === key);
    const fresh = {
      fileGuid: randomUUID(),
      key,
      parts: new Map(),
      content: null,
      abandoned: false,
      completing: 0,
    };
    const upload = before ?? { ...requested, ...fresh };
    this.all.set(upload.fileGuid, upload);
    return {
      status: 201,
      body: this.#isMultipart(upload) ? this.#plan(upload) : this.#presigned(upload, []),
    };
  }

  /** Returns the missing parts without URLs, which are requested with the parts' checksums. */
  #plan(upload: Upload) {
    const missing = this.#numbers(upload).filter((number) => !upload.parts.has(number));
    const parts = missing.map((partNumber) => ({ partNumber, size: this.#length(upload, partNumber) }));
    return { fileGuid: upload.fileGuid, partSize: this.partSize, parts };
  }

  #presign(upload: Upload, { body }: Request): Reply {
    if (upload.content) return problem(409, "already-uploaded");
    if (upload.abandoned) return problem(409, "upload-abandoned");
    if (upload.completing) return problem(409, "upload-incomplete", {}, 2);
    const wanted: WantedPart[] = body.length > 0 ? JSON.parse(body.toString()).parts : [];
    const isPlan = this.#isMultipart(upload) && wanted.length === 0;
    return { status: 200, body: isPlan ? this.#plan(upload) : this.#presigned(upload, wanted) };
  }

  #complete(upload: Upload): Reply {
    if (upload.abandoned) return problem(409, "upload-abandoned");
    if (upload.completing) return problem(409, "upload-incomplete", {}, 2);
    const missing = this.#numbers(upload).filter(
      (number) => upload.parts.get(number)?.length !== this.#length(upload, number),
    );
    if (!upload.content && missing.length > 0)
      return problem(409, "upload-incomplete", { detail: `Missing: ${missing}` });
    this.#join(upload);
    return { status: 200, body: this.#status(upload) };
  }

  #join(upload: Upload): void {
    upload.content ??= Buffer.concat(
      this.#numbers(upload).map((number) => upload.parts.get(number) ?? Buffer.alloc(0)),
    );
  }

  #status(upload: Upload) {
    const { fileGuid, fileName, contentType, size } = upload;
    if (upload.completing && --upload.completing === 0) this.#join(upload);
    const state = upload.content ? "received" : upload.abandoned ? "abandoned" : "waiting";
    const base = { fileGuid, fileName, contentType, size, state, expiresAt: "2030-01-01T00:00:00Z" };
    if (state !== "waiting" || !this.#isMultipart(upload)) return base;
    // S3 no longer lists the parts while it assembles the file.
    const parts = upload.completing ? [] : [...upload.parts];
    const receivedParts = parts.map(([partNumber, bytes]) => ({
      partNumber,
      size: bytes.length,
      sha256: sha256(bytes),
    }));
    return { ...base, partSize: this.partSize, receivedParts };
  }

  #presigned(upload: Upload, wanted: WantedPart[]) {
    const { fileGuid, contentType, size } = upload;
    if (!this.#isMultipart(upload)) {
      const headers = { "content-type": contentType, "if-none-match": "*" };
      return { fileGuid, ...this.#sign({ upload, partNumber: null, size, sha256: null }, headers) };
    }
    const parts = wanted.map(({ partNumber, sha256 }) => {
      const length = this.#length(upload, partNumber);
      const headers = { "x-amz-checksum-sha256": sha256 };
      return {
        partNumber,
        size: length,
        ...this.#sign({ upload, partNumber, size: length, sha256 }, headers),
      };
    });
    return { fileGuid, partSize: this.partSize, parts };
  }

  #sign(signed: Signed, headers: Record<string, string>) {
    const signature = randomUUID();
    this.signed.set(signature, signed);
    return {
      method: "PUT",
      url: `${this.origin}/s3/${signature}`,
      headers,
      expiresAt: "2030-01-01T00:00:00Z",
    };
  }

  #put({ headers, body }: Request, url: URL): Reply {
    const signed = this.signed.get(url.pathname.slice("/s3/".length));
    if (!signed || headers.authorization || Number(headers["content-length"]) !== signed.size)
      return refusal(403, "AccessDenied");
    if (
      signed.sha256 &&
      (headers["x-amz-checksum-sha256"] !== signed.sha256 || sha256(body) !== signed.sha256)
    ) {
      return refusal(400, "BadDigest");
    }
    const { upload, partNumber } = signed;
    if (partNumber !== null) {
      if (upload.content || upload.abandoned || upload.completing) return refusal(404, "NoSuchUpload");
      upload.parts.set(partNumber, body);
    } else {
      if (headers["if-none-match"] !== "*" || headers["content-type"] !== upload.contentType)
        return refusal(403, "SignatureDoesNotMatch");
      if (upload.content) return refusal(412, "PreconditionFailed");
      upload.content = body;
    }
    return { status: 200, body: "" };
  }

  #isMultipart(upload: Upload): boolean {
    return upload.size > this.multipartBytes;
  }

  #numbers(upload: Upload): number[] {
    const count = this.#isMultipart(upload) ? Math.ceil(upload.size / this.partSize) : 0;
    return Array.from({ length: count }, (_, index) => index + 1);
  }

  #length(upload: Upload, partNumber: number): number {
    return Math.min(this.partSize, upload.size - (partNumber - 1) * this.partSize);
  }
}

export function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("base64");
}
