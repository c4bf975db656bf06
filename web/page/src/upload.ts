/** The upload of one file: Uppy keeps its state and its restrictions, Longshore's client sends it. */

import { effect, signal } from "@preact/signals";
import Uppy, { BasePlugin, type PluginOpts } from "@uppy/core";
import { ProblemError } from "longshore-client";
import { OtherFileError, type ResumeState, type UploadOptions, upload } from "longshore-client/upload";
import { api } from "./api";
import { forgetUpload, rememberUpload, unfinishedUpload, uploadKey } from "./memory";
import { text } from "./text";

type Meta = { header: string | null };
type Body = { fileGuid: string };

const GONE: ProblemError["kind"][] = ["not-found", "upload-abandoned", "already-uploaded", "file-gone"];

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
      const name = uploadKey(file.data as File, file.meta.header);
      const body = await put(file.data as File, name, { signal, onProgress });
      if (signal.aborted) return;
      this.uppy.emit("upload-success", this.uppy.getFile(id), { status: 200, body });
    } catch (error) {
      if (signal.aborted) return;
      const failure = error instanceof Error ? error : new Error(String(error));
      this.uppy.emit("upload-error", this.uppy.getFile(id), failure);
    }
  }
}

/** Puts a file, from where it was left if it was begun before: in this view, or before the page was loaded anew. */
async function put(file: File, name: string, options: UploadOptions): Promise<Body> {
  const resume = unfinishedUpload(name);
  const anew = { ...options, onBegun: (begun: ResumeState) => rememberUpload(name, begun) };
  try {
    return await upload(api, file, { ...anew, resume });
  } catch (error) {
    if (!resume || !isGone(error)) throw error;
    return upload(api, file, anew);
  }
}

/** Whether an upload cannot be gone on with: it has expired, or is another person's. All else may pass. */
function isGone(error: unknown): boolean {
  if (error instanceof OtherFileError) return true;
  return error instanceof ProblemError && (error.status === 404 || GONE.includes(error.kind));
}

/** One file on its way. As long as it is, the browser asks before it leaves the page. */
export class Upload {
  /** The file that is sent; null before one is picked. */
  readonly file = signal<File | null>(null);
  readonly percent = signal(0);
  /** By which a job names the file, once it is there. */
  readonly fileGuid = signal<string | null>(null);
  readonly error = signal<unknown>(null);

  readonly #uppy: Uppy<Meta, Body>;
  /** By which the browser remembers it. */
  #name = "";

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
      removeEventListener("beforeunload", this.#ask);
    });
    this.#uppy.on("upload-error", (_, error) => {
      this.error.value = error;
      removeEventListener("beforeunload", this.#ask);
    });
  }

  /** Why a file cannot be taken, if so. */
  refusal(file: File): string | null {
    const { wrongType, empty } = text.file;
    const error = this.#uppy.validateRestrictions(asUppyFile(file, null), []);
    if (!error) return null;
    return file.size === 0 ? empty : wrongType;
  }

  /** Sends a file, in place of the one before. `header`: the one that it was given, if any. */
  begin(file: File, header: string | null = null): void {
    this.remove();
    this.file.value = file;
    this.#name = uploadKey(file, header);
    addEventListener("beforeunload", this.#ask);
    this.#uppy.addFile(asUppyFile(file, header));
    void this.#uppy.upload();
  }

  /** Stops, and forgets the file. */
  remove(): void {
    removeEventListener("beforeunload", this.#ask);
    this.#uppy.cancelAll();
    for (const { id } of this.#uppy.getFiles()) this.#uppy.removeFile(id);
    this.file.value = null;
    this.fileGuid.value = null;
    this.error.value = null;
    this.percent.value = 0;
  }

  /** Waits until the file is there. Rejects with what it cannot be sent for, or with the signal's reason. */
  finished(signal: AbortSignal): Promise<string> {
    return new Promise((resolve, reject) => {
      const stop = effect(() => {
        if (this.fileGuid.value) resolve(this.fileGuid.value);
        else if (this.error.value) reject(this.error.value);
        else return;
        queueMicrotask(() => stop());
      });
      signal.addEventListener("abort", () => {
        reject(signal.reason);
        stop();
      });
    });
  }

  /** Has it not gone on with: its file belongs to a job now. Until then a page that is loaded anew finds it there. */
  forget(): void {
    if (this.fileGuid.value) forgetUpload(this.#name, this.fileGuid.value);
  }

  /** Stops for good. */
  close(): void {
    this.remove();
    this.#uppy.destroy();
  }

  #ask = (event: BeforeUnloadEvent) => event.preventDefault();
}

function asUppyFile(file: File, header: string | null) {
  const { name, type, size } = file;
  const extension = name.split(".").pop() ?? "";
  return { name, type, size, extension, data: file, source: "page", meta: { header } };
}
