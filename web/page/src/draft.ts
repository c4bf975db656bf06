/**
 * An import in preparation: a file, its upload, what is found in it, and a start that waits for both.
 * Continues while the user looks at another view. Ends when its file is removed. The page has one current
 * draft, which is picked, removed and started independently of the view.
 */

import { computed, effect, signal, untracked } from "@preact/signals";
import { type Job, ProblemError } from "longshore-client";
import { announce } from "./accessibility";
import { api, guarded } from "./api";
import { isReadable, sampleOf } from "./file/beginning";
import { readSchema, type Schema } from "./file/schema";
import { Inspector } from "./inspector";
import { rememberDataset, rememberSchema, schemaOf } from "./local-storage";
import { ImportPlan } from "./plan";
import { go, route } from "./router";
import { Sample } from "./sample";
import { sessionState } from "./session";
import { text } from "./text";
import { Upload } from "./upload";

/** The accepted file types. */
export const FILE_TYPES = [
  ".csv",
  ".tsv",
  ".tab",
  ".txt",
  ".jsonl",
  ".ndjson",
  ".xlsx",
  ".xlsm",
  ".gz",
  ".zst",
  ".zip",
];

/** The stage of a start. */
export type Stage = "none" | "waiting" | "creating";

export class Draft {
  readonly upload = new Upload(FILE_TYPES);
  readonly inspector = new Inspector();
  readonly plan: ImportPlan;
  readonly stage = signal<Stage>("none");
  /** The error of the job's creation. Errors of the upload and of the inspection are in `upload` and `inspector`. */
  readonly error = signal<unknown>(null);

  #sampleFile: File | null;
  readonly #sample = signal<Sample | null>(null);
  /** The upload that is inspected: the sample or the file, whichever is uploaded first. */
  readonly #inspected = signal<string | null>(null);
  /** What the page waits for before anything is known about the file; null afterwards, or after an error. */
  readonly waitsFor = computed<"sample" | "file" | "inspection" | null>(() => {
    if (this.inspector.found.value || this.inspector.error.value || this.upload.error.value) return null;
    if (this.#inspected.value !== null) return "inspection";
    return this.#sample.value?.isFailed.value === false ? "sample" : "file";
  });

  /** True while a whole answer is renewed. */
  readonly isStale = computed(
    () => this.inspector.isPending.value && this.inspector.found.value?.request.jobType !== undefined,
  );

  #stopEffects: (() => void)[];
  #pending = new AbortController();
  #lastRequest = { body: "", idempotencyKey: "" };

  /** @param sampleFile Beginning of the file, to inspect before the file is uploaded. */
  constructor(
    readonly file: File,
    sampleFile: File | null,
  ) {
    this.#sampleFile = sampleFile;
    const dataset = datasetName(file.name);
    this.plan = new ImportPlan(this.inspector.found, dataset, rememberedSchema(dataset));
    this.#stopEffects = [
      effect(() => {
        const fileGuid = this.#sample.value?.fileGuid.value ?? this.upload.fileGuid.value;
        if (fileGuid !== null && this.#inspected.peek() === null) this.#inspected.value = fileGuid;
      }),
      effect(() => {
        const [fileGuid, request] = [this.#inspected.value, this.plan.inspection.value];
        if (fileGuid !== null) untracked(() => this.inspector.ask(fileGuid, request));
      }),
    ];
  }

  /** Uploads the file and its sample, unless that is done or in progress. */
  send(): void {
    if (this.#sampleFile) this.#sample.value = new Sample(this.#sampleFile);
    this.#sampleFile = null;
    const { file, error } = this.upload;
    if (file.value === this.file && !error.value) return;
    this.upload.begin(this.file);
  }

  /** Inspects again after an error. An upload that no longer exists is replaced. */
  inspectAgain(): void {
    const { value } = this.inspector.error;
    if (!(value instanceof ProblemError) || value.status !== 404) return this.inspector.again();
    this.#sample.value = null;
    if (this.upload.fileGuid.value === this.#inspected.value) this.#discardUpload();
    this.#inspected.value = this.upload.fileGuid.value;
    this.send();
  }

  /** Creates the job once the file is uploaded. Returns null if the start was canceled or failed. */
  async start(): Promise<Job | null> {
    const { signal } = this.#pending;
    this.error.value = null;
    this.stage.value = "waiting";
    try {
      this.send();
      const ready = [this.upload.finished(signal), this.inspector.answered(signal)] as const;
      const [fileGuid] = await Promise.all(ready);
      if (!this.plan.isReady.value) {
        this.stage.value = "none";
        return null;
      }
      this.stage.value = "creating";
      const job = await this.#create(fileGuid);
      this.upload.forget();
      return job;
    } catch (error) {
      if (signal.aborted) return null;
      const isShown = error === this.upload.error.value || error === this.inspector.error.value;
      if (!isShown) this.error.value = error;
      this.stage.value = "none";
      return null;
    }
  }

  /** Cancels the start. The upload continues. */
  cancelStart(): void {
    this.#pending.abort();
    this.#pending = new AbortController();
    this.stage.value = "none";
  }

  close(): void {
    for (const stop of this.#stopEffects) stop();
    this.cancelStart();
    this.inspector.close();
    this.#sample.value?.close();
    this.upload.remove();
  }

  /** Creates the job. The same request creates one job, even if the first reply was lost. */
  async #create(fileGuid: string): Promise<Job> {
    const request = this.plan.jobRequest(fileGuid);
    const body = JSON.stringify(request);
    if (this.#lastRequest.body !== body) this.#lastRequest = { body, idempotencyKey: crypto.randomUUID() };
    const { idempotencyKey } = this.#lastRequest;
    try {
      return await guarded(() => api.createJob(request, { idempotencyKey }));
    } catch (error) {
      if (error instanceof ProblemError) this.#startOver(error);
      throw error;
    }
  }

  /**
   * Discards a request or an upload that the server no longer knows, so that the next start creates a new
   * one.
   */
  #startOver({ kind, errors }: ProblemError): void {
    if (kind === "job-deleted") this.#lastRequest.body = "";
    if (errors.some(({ pointer }) => pointer === "/fileGuid")) this.#discardUpload();
  }

  #discardUpload(): void {
    this.upload.forget();
    this.upload.remove();
  }
}

/** Derives a dataset's name from the file's name. */
function datasetName(fileName: string): string {
  const stem = fileName.replace(/\.(gz|zst|zip)$/i, "").replace(/\.[^.]*$/, "");
  const name = stem
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 64);
  return name.toLowerCase() || "records";
}

/** Returns the schema that was last used for a dataset. */
function rememberedSchema(dataset: string): Schema | null {
  const found = schemaOf(dataset);
  return found ? readSchema(found.name, found.text) : null;
}

/** The current draft, if any. */
export const currentDraft = signal<Draft | null>(null);

/** The last job that was started while another view was shown. The import view links to it. */
export const startedInBackground = signal<{ fileName: string; jobId: string } | null>(null);

/** Counts picked files. The last one wins, however long the earlier ones take to read. */
let picked = 0;

/** Replaces the current draft with a new file. Returns the reason if the file is refused. */
export async function pick(file: File): Promise<string | null> {
  remove();
  const turn = ++picked;
  const canRead = await isReadable(file);
  const sample = canRead ? await sampleOf(file) : null;
  if (turn !== picked) return null;
  if (!canRead) return text.file.unreadable;
  const next = new Draft(file, sample);
  const refusal = next.upload.refusal(file);
  if (refusal) {
    next.close();
    return refusal;
  }
  next.send();
  currentDraft.value = next;
  return null;
}

/** Removes the current draft and cancels its start. */
export function remove(): void {
  picked++;
  currentDraft.peek()?.close();
  currentDraft.value = null;
  startedInBackground.value = null;
}

/** Starts an import. Shows its job if the import view is still shown. */
export async function start(from: Draft): Promise<void> {
  const job = await from.start();
  const isShown = route.peek().view === "import";
  const { name } = from.file;
  if (!job) {
    if (!isShown && currentDraft.peek() === from && from.stage.peek() === "none")
      announce(text.start.notStarted(name));
    return;
  }
  const { dataset, schema } = from.plan.chosen.peek();
  rememberDataset(job.jobId, dataset);
  if (schema) rememberSchema(dataset, { name: schema.name, text: JSON.stringify(schema.document) });
  if (currentDraft.peek() === from) remove();
  if (isShown) return go(`/jobs/${job.jobId}`);
  startedInBackground.value = { fileName: name, jobId: job.jobId };
  announce(text.start.started(name));
}

// A draft belongs to one user.
effect(() => {
  if (sessionState.value === "signed-out") remove();
});
