/** A run of a registered job type in preparation: its options, its items, their upload, and the start. */

import { computed, signal } from "@preact/signals";
import { type Job, type JobRequest, type JobType, ProblemError } from "longshore-client";
import { api, guarded } from "../api";
import { FILE_TYPES } from "../draft";
import { isReadable } from "../file/beginning";
import { text } from "../text";
import { Upload } from "../upload";
import { placedErrors } from "./errors";
import { type OptionsForm, optionsForm } from "./fields";
import { guessFormat, type PastedFormat, type PastedProblem, pastedFile, pastedProblem } from "./pasted";
import { type Entries, type Entry, initialEntries, optionsOf, parseOptions, problemsOf } from "./values";

/** Where the items of a type that takes a file come from. */
export type ItemsFrom = "file" | "text";

/** The stage of a start. */
export type RunStage = "none" | "uploading" | "creating";

export class Run {
  readonly form: OptionsForm;
  readonly upload = new Upload(FILE_TYPES);

  readonly entries = signal<Entries>(new Map());
  /** The options as JSON, if the form has no fields. */
  readonly json = signal("");
  readonly from = signal<ItemsFrom>("file");
  /** The picked file. `upload` can have the pasted text instead. */
  readonly file = signal<File | null>(null);
  readonly pasted = signal("");
  /** The chosen format of the pasted text; null while it is guessed. */
  readonly chosenFormat = signal<PastedFormat | null>(null);
  readonly dataset = signal("");

  readonly stage = signal<RunStage>("none");
  /** True once a start was tried: problems are shown from then on. */
  readonly isTried = signal(false);
  readonly error = signal<unknown>(null);
  /** The reason why a file was refused. */
  readonly refusal = signal<string | null>(null);

  readonly format = computed(() => this.chosenFormat.value ?? guessFormat(this.pasted.value));
  readonly problems = computed(() =>
    this.form.kind === "fields" ? problemsOf(this.form.fields, this.entries.value) : new Map(),
  );
  readonly isJsonBad = computed(() => this.form.kind === "json" && parseOptions(this.json.value) === null);
  /** The errors of the server, until the next start. */
  readonly placed = computed(() => {
    const { value } = this.error;
    const names = this.form.kind === "fields" ? this.form.fields.map(({ name }) => name) : [];
    return placedErrors(value instanceof ProblemError ? value.errors : [], names);
  });

  #stop = new AbortController();
  #picked = 0;
  #pastedFile: { text: string; format: PastedFormat; file: File } | null = null;
  #lastRequest = { body: "", idempotencyKey: "" };

  constructor(readonly type: JobType) {
    this.form = optionsForm(type.optionsSchema);
    if (this.form.kind === "fields") this.entries.value = initialEntries(this.form.fields);
  }

  set(name: string, entry: Entry): void {
    this.entries.value = new Map([...this.entries.value, [name, entry]]);
  }

  /** Replaces the file and begins its upload. */
  async pick(file: File): Promise<void> {
    const turn = ++this.#picked;
    this.removeFile();
    const canRead = await isReadable(file);
    if (turn !== this.#picked) return;
    this.refusal.value = canRead ? this.upload.refusal(file) : text.file.unreadable;
    if (this.refusal.value !== null) return;
    this.file.value = file;
    this.upload.begin(file);
  }

  removeFile(): void {
    this.upload.remove();
    this.file.value = null;
    this.refusal.value = null;
    this.error.value = null;
  }

  /** Returns the problem of the items, or null. */
  itemsProblem(): "no-file" | "no-dataset" | PastedProblem | null {
    if (this.type.input === "dataset") return this.dataset.value.trim() === "" ? "no-dataset" : null;
    if (this.from.value === "file") return this.file.value ? null : "no-file";
    return pastedProblem(this.pasted.value, this.format.value);
  }

  /** Returns true if nothing that the page checks is wrong. */
  isReady(): boolean {
    const isValid = this.problems.value.size === 0 && !this.isJsonBad.value;
    return isValid && this.itemsProblem() === null;
  }

  /** Creates the job, after its upload. Returns null if something is wrong, or if it was stopped. */
  async start(): Promise<Job | null> {
    if (this.stage.value !== "none") return null;
    this.isTried.value = true;
    this.error.value = null;
    if (!this.isReady()) return null;
    const { signal } = this.#stop;
    try {
      const items = await this.#items(signal);
      this.stage.value = "creating";
      const job = await this.#create(items);
      this.upload.forget();
      return job;
    } catch (error) {
      if (!signal.aborted && error !== this.upload.error.value) this.error.value = error;
      return null;
    } finally {
      this.stage.value = "none";
    }
  }

  /** Stops the upload and the start. */
  close(): void {
    this.#picked++;
    this.#stop.abort();
    this.#stop = new AbortController();
    this.upload.remove();
  }

  /** Returns the items of the request, once they are uploaded. */
  async #items(signal: AbortSignal): Promise<Pick<JobRequest, "fileGuid" | "source">> {
    if (this.type.input === "dataset") return { source: { dataset: this.dataset.value.trim() } };
    this.stage.value = "uploading";
    const { file, error } = this.upload;
    const sent = this.from.value === "file" ? this.file.value : this.#textFile();
    if (sent && (file.value !== sent || error.value)) this.upload.begin(sent);
    return { fileGuid: await this.upload.finished(signal) };
  }

  /** Returns the same file for the same text, so that a second start does not upload it again. */
  #textFile(): File {
    const [text, format] = [this.pasted.value, this.format.value];
    if (this.#pastedFile?.text !== text || this.#pastedFile.format !== format)
      this.#pastedFile = { text, format, file: pastedFile(text, format) };
    return this.#pastedFile.file;
  }

  #options(): Record<string, unknown> {
    if (this.form.kind === "fields") return optionsOf(this.form.fields, this.entries.value);
    return parseOptions(this.json.value) ?? {};
  }

  /** Creates the job. The same request creates one job, even if the first reply was lost. */
  async #create(items: Pick<JobRequest, "fileGuid" | "source">): Promise<Job> {
    const request: JobRequest = { jobType: this.type.name, ...items, options: this.#options() };
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

  /** Discards a request or an upload that the server no longer knows, so that the next start makes a new one. */
  #startOver({ kind, errors }: ProblemError): void {
    if (kind === "job-deleted") this.#lastRequest.body = "";
    if (!errors.some(({ pointer }) => pointer === "/fileGuid")) return;
    this.upload.forget();
    this.upload.remove();
    this.file.value = null;
    this.#pastedFile = null;
  }
}
