/**
 * An import in preparation: a file, the options, the upload, and a start that waits for the upload.
 * Continues while the user looks at another view. Ends when its file is removed. The page has one current
 * draft, which is picked, removed and started independently of the view.
 */

import { computed, effect, signal } from "@preact/signals";
import { type ImportOptions, type Job, type JobRequest, ProblemError } from "longshore-client";
import { announce } from "./accessibility";
import { api, guarded } from "./api";
import { columnsOption, guessMapping, type Mapping, renamed, UNMAPPED } from "./file/mapping";
import { findProblems, guessKey, isBlocking } from "./file/problems";
import { readSchema, type Schema } from "./file/schema";
import { readSheet, type Sheet } from "./file/sheet";
import { rememberDataset, rememberSchema, schemaOf } from "./local-storage";
import { go, route } from "./router";
import { sessionState } from "./session";
import { text } from "./text";
import { Upload } from "./upload";

/** The accepted file types. */
export const FILE_TYPES = [".csv", ".txt", ".jsonl", ".ndjson"];

export type Mode = NonNullable<ImportOptions["mode"]>;

/** The user's choices. */
export interface ImportChoices {
  dataset: string;
  /** A column of the file, before mapping; null while the guess is used. */
  key: string | null;
  mode: Mode;
  schema: Schema | null;
}

/** The stage of a start. */
export type Stage = "none" | "waiting" | "creating";

/** How a CSV file is read, which is how its preview is shown. */
const SHOWN: JobRequest["reading"] = { encoding: "utf-8", delimiter: ",", quote: '"', headerRow: 1 };

export class Draft {
  readonly upload = new Upload(FILE_TYPES);
  readonly chosen = signal<ImportChoices>({ dataset: "", key: null, mode: "upsert", schema: null });
  readonly stage = signal<Stage>("none");
  /** The error of the job's creation. Errors of the upload are in `upload`. */
  readonly error = signal<unknown>(null);

  readonly #changes = signal<Mapping | null>(null);
  readonly #schema = computed(() => this.chosen.value.schema);
  readonly #guess = computed(() => {
    const schema = this.#schema.value;
    return schema && this.sheet.format === "csv" ? guessMapping(schema.fields, this.sheet.columns) : UNMAPPED;
  });
  readonly mapping = computed(() => this.#changes.value ?? this.#guess.value);
  /** The columns' names in the import. */
  readonly names = computed(() => renamed(this.sheet.columns, this.mapping.value));
  /** The file's key column; empty if there is none. */
  readonly keyColumn = computed(() => this.chosen.value.key ?? guessKey(this.sheet, this.names.value));
  readonly problems = computed(() => {
    const { mode } = this.chosen.value;
    // A delete reads the key only.
    const schema = mode === "delete" ? null : this.#schema.value;
    const [key, mapping] = [this.keyColumn.value, this.mapping.value];
    return findProblems(this.sheet, { key, schema, mapping });
  });
  readonly blocked = computed(() => this.keyColumn.value === "" || this.problems.value.some(isBlocking));

  #pending = new AbortController();
  #lastRequest = { body: "", idempotencyKey: "" };

  constructor(
    readonly file: File,
    readonly sheet: Sheet,
  ) {
    const dataset = datasetName(file.name);
    this.chosen.value = { ...this.chosen.value, dataset, schema: rememberedSchema(dataset) };
  }

  choose(change: Partial<ImportChoices>): void {
    if (change.schema !== undefined) this.#changes.value = null;
    this.chosen.value = { ...this.chosen.value, ...change };
  }

  map(mapping: Mapping): void {
    this.#changes.value = mapping;
  }

  /** Uploads the file, unless that is done or in progress. */
  send(): void {
    const { file, error } = this.upload;
    if (file.value === this.file && !error.value) return;
    this.upload.begin(this.file);
  }

  /** Creates the job once the file is uploaded. Returns null if the start was canceled or failed. */
  async start(): Promise<Job | null> {
    const { signal } = this.#pending;
    this.error.value = null;
    this.stage.value = "waiting";
    try {
      this.send();
      const fileGuid = await this.upload.finished(signal);
      this.stage.value = "creating";
      const job = await this.#create(fileGuid);
      this.upload.forget();
      return job;
    } catch (error) {
      if (signal.aborted) return null;
      if (error !== this.upload.error.value) this.error.value = error;
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
    this.cancelStart();
    this.upload.remove();
  }

  /** Creates the job. The same request creates one job, even if the first reply was lost. */
  async #create(fileGuid: string): Promise<Job> {
    const { dataset, mode, schema } = this.chosen.value;
    const [key = ""] = renamed([this.keyColumn.value], this.mapping.value);
    const columns = columnsOption(this.mapping.value);
    const options = {
      dataset,
      key,
      mode,
      ...(Object.keys(columns).length > 0 && { columns }),
      ...(schema && { schema: schema.document }),
    } satisfies ImportOptions;
    const request: JobRequest = {
      jobType: "import",
      fileGuid,
      ...(this.sheet.format === "csv" && { reading: SHOWN }),
      options,
    };
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
    if (!errors.some(({ pointer }) => pointer === "/fileGuid")) return;
    this.upload.forget();
    this.upload.remove();
  }
}

/** Derives a dataset's name from the file's name. */
function datasetName(fileName: string): string {
  const stem = fileName.replace(/\.[^.]*$/, "");
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
  // Read before the check of the name: "this is a workbook" helps more than "the name is wrong".
  const sheet = await readSheet(file);
  if (turn !== picked) return null;
  if (typeof sheet === "string") return text.unreadable[sheet];
  const next = new Draft(file, sheet);
  const refusal = next.upload.refusal(file);
  if (refusal) {
    next.close();
    return refusal;
  }
  if (!next.blocked.value) next.send();
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
  const { dataset, schema } = from.chosen.peek();
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
