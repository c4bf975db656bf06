/** The upload of one file: Uppy keeps its state and its restrictions, Longshore's client sends it. */

import { effect, signal } from "@preact/signals";
import Uppy, { BasePlugin, type PluginOpts } from "@uppy/core";
import { ProblemError } from "longshore-client";
import { type UploadOptions, upload } from "longshore-client/upload";
import { api } from "./api";
import { begunUpload, rememberUpload } from "./memory";
import { text } from "./text";

type Meta = Record<string, unknown>;
type Body = { fileGuid: string };

/** The uploader: hands each file to the client, and says to Uppy how far it is. */
class ClientUploader extends BasePlugin<PluginOpts, Meta, Body> {
  #stop = new AbortController();

  constructor(uppy: Uppy<Meta, Body>) {
    super(uppy, {});
    this.id = "LongshoreClient";
    this.type = "uploader";
  }

  override install(): void {
    this.uppy.addUploader((ids) => Promise.all(ids.map((id) => this.#send(id))));
    this.uppy.on("file-removed", this.#abort);
  }

  override uninstall(): void {
    this.#abort();
  }

  #abort = () => {
    this.#stop.abort();
    this.#stop = new AbortController();
  };

  async #send(id: string): Promise<void> {
    const { signal } = this.#stop;
    const file = this.uppy.getFile(id);
    const uploadStarted = Date.now();
    const onProgress = ({ sentBytes, totalBytes }: { sentBytes: number; totalBytes: number }) => {
      const progress = { uploadStarted, bytesUploaded: sentBytes, bytesTotal: totalBytes };
      if (!signal.aborted) this.uppy.emit("upload-progress", this.uppy.getFile(id), progress);
    };
    this.uppy.emit("upload-start", [file]);
    try {
      const body = await put(file.data as File, { signal, onProgress });
      this.uppy.emit("upload-success", this.uppy.getFile(id), { status: 200, body });
    } catch (error) {
      if (signal.aborted) return;
      const failure = error instanceof Error ? error : new Error(String(error));
      this.uppy.emit("upload-error", this.uppy.getFile(id), failure);
    }
  }
}

/** Puts a file, from where it was left if it was begun before: in this view, or before the page was loaded anew. */
async function put(file: File, options: UploadOptions): Promise<Body> {
  const resume = begunUpload(file);
  let body: Body;
  try {
    body = await upload(api, file, { ...options, resume, onBegun: rememberUpload });
  } catch (error) {
    // The upload has expired, or is another person's.
    if (!resume || !(error instanceof ProblemError)) throw error;
    body = await upload(api, file, { ...options, onBegun: rememberUpload });
  }
  rememberUpload(null);
  return body;
}

/** One file on its way. */
export class Upload {
  /** The file that is sent; null before one is picked. */
  readonly file = signal<File | null>(null);
  readonly percent = signal(0);
  /** By which a job names the file, once it is there. */
  readonly fileGuid = signal<string | null>(null);
  readonly error = signal<string | null>(null);

  readonly #uppy: Uppy<Meta, Body>;

  constructor(allowedFileTypes: string[]) {
    this.#uppy = new Uppy<Meta, Body>({
      autoProceed: false,
      restrictions: { maxNumberOfFiles: 1, minFileSize: 1, allowedFileTypes },
    });
    this.#uppy.use(ClientUploader);
    this.#uppy.on("upload-progress", (_, { bytesUploaded, bytesTotal }) => {
      // 100 only when S3 has said that it has the file.
      this.percent.value = Math.min(99, Math.floor((100 * Number(bytesUploaded)) / (bytesTotal || 1)));
    });
    this.#uppy.on("upload-success", (_, { body }) => {
      this.percent.value = 100;
      this.fileGuid.value = body?.fileGuid ?? null;
    });
    this.#uppy.on("upload-error", (_, error) => {
      this.error.value = error.message;
    });
  }

  /** Why a file cannot be taken, if so. */
  refusal(file: File): string | null {
    const { wrongType, empty } = text.file;
    const error = this.#uppy.validateRestrictions(asUppyFile(file), []);
    if (!error) return null;
    return file.size === 0 ? empty : wrongType;
  }

  /** Sends a file, in place of the one before. */
  begin(file: File): void {
    this.remove();
    this.file.value = file;
    this.#uppy.addFile(asUppyFile(file));
    void this.#uppy.upload();
  }

  /** Stops, and forgets the file. */
  remove(): void {
    this.#uppy.cancelAll();
    for (const { id } of this.#uppy.getFiles()) this.#uppy.removeFile(id);
    this.file.value = null;
    this.fileGuid.value = null;
    this.error.value = null;
    this.percent.value = 0;
  }

  /** Waits until the file is there. Rejects if it cannot be sent. */
  finished(): Promise<string> {
    return new Promise((resolve, reject) => {
      const stop = effect(() => {
        if (this.fileGuid.value) resolve(this.fileGuid.value);
        else if (this.error.value) reject(new Error(this.error.value));
        else return;
        queueMicrotask(() => stop());
      });
    });
  }

  /** Stops for good. */
  close(): void {
    this.#uppy.destroy();
  }
}

function asUppyFile(file: File) {
  const { name, type, size } = file;
  return { name, type, size, extension: name.split(".").pop() ?? "", data: file, source: "page" };
}
