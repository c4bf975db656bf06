/**
 * An import in preparation: a file, the options, the upload, and a start that waits for the upload.
 * Continues while the user looks at another view. Ends when its file is removed.
 */

import { computed, signal } from "@preact/signals";
import { type ImportOptions, type Job, type JobRequest, ProblemError } from "longshore-client";
import { api, guarded } from "./api";
import { guessKey } from "./file/key";
import { guessMapping, type Mapping, newHeader, renamed, UNMAPPED, withHeader } from "./file/mapping";
import { findProblems, isBlocking } from "./file/problems";
import { readSchema, type Schema } from "./file/schema";
import type { Sheet } from "./file/sheet";
import { schemaOf } from "./local-storage";
import { Upload } from "./upload";

/** The accepted file types. */
export const FILE_TYPES = [".csv", ".txt", ".jsonl", ".ndjson"];

export type Mode = "upsert" | "insert" | "validate";

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
    const [key, schema, mapping] = [this.keyColumn.value, this.#schema.value, this.mapping.value];
    return findProblems(this.sheet, { key, schema, mapping });
  });
  readonly blocked = computed(() => this.keyColumn.value === "" || this.problems.value.some(isBlocking));

  /** Cached per header, so that an upload of the same content is kept. */
  readonly #header = computed(() => newHeader(this.sheet, this.mapping.value));
  readonly #sent = computed(() => withHeader(this.file, this.sheet, this.#header.value));

  #pending = new AbortController();
  #lastRequest = { text: "", idempotencyKey: "" };

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

  /** Uploads the file with its current header, unless that is done or in progress. */
  send(): void {
    const { file, error } = this.upload;
    if (file.value === this.#sent.value && !error.value) return;
    this.upload.begin(this.#sent.value, this.#header.value);
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
    const options = {
      dataset,
      key,
      mode,
      ...(schema && { schema: schema.document }),
    } satisfies ImportOptions;
    const request: JobRequest = { jobType: "import", fileGuid, options };
    const text = JSON.stringify(request);
    if (this.#lastRequest.text !== text) this.#lastRequest = { text, idempotencyKey: crypto.randomUUID() };
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
    if (kind === "job-deleted") this.#lastRequest.text = "";
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
