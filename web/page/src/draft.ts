/**
 * An import that is being prepared: a file, the choices about it, its upload, and a start that waits for the upload. It
 * lives outside of the view, so that it goes on while the person looks at something else; it ends with its file.
 */

import { computed, signal } from "@preact/signals";
import { type ImportOptions, type Job, type JobRequest, ProblemError } from "longshore-client";
import { api, guarded } from "./api";
import { guessKey } from "./file/key";
import { guessMapping, type Mapping, newHeader, renamed, UNMAPPED, withHeader } from "./file/mapping";
import { findProblems, isBlocking } from "./file/problems";
import { readSchema, type Schema } from "./file/schema";
import type { Sheet } from "./file/sheet";
import { schemaOf } from "./memory";
import { Upload } from "./upload";

/** What may be dropped. */
export const FILE_TYPES = [".csv", ".txt", ".jsonl", ".ndjson"];

export type Mode = "upsert" | "insert" | "validate";

/** What the person has chosen. */
export interface Chosen {
  dataset: string;
  /** A column of the file, however it is mapped; null as long as the guess is good. */
  key: string | null;
  mode: Mode;
  schema: Schema | null;
}

/** Where a start stands. */
export type Stage = "none" | "waiting" | "creating";

export class Draft {
  readonly upload = new Upload(FILE_TYPES);
  readonly chosen = signal<Chosen>({ dataset: "", key: null, mode: "upsert", schema: null });
  readonly stage = signal<Stage>("none");
  /** Why the job was not created; what is wrong with the upload is the upload's own. */
  readonly error = signal<unknown>(null);

  readonly #changes = signal<Mapping | null>(null);
  readonly #schema = computed(() => this.chosen.value.schema);
  readonly #guess = computed(() => {
    const schema = this.#schema.value;
    return schema && this.sheet.format === "csv" ? guessMapping(schema.fields, this.sheet.columns) : UNMAPPED;
  });
  readonly mapping = computed(() => this.#changes.value ?? this.#guess.value);
  /** What the import calls the columns. */
  readonly names = computed(() => renamed(this.sheet.columns, this.mapping.value));
  /** The column of the file that is the key; empty if there is none. */
  readonly keyColumn = computed(() => this.chosen.value.key ?? guessKey(this.sheet, this.names.value));
  readonly problems = computed(() => {
    const [key, schema, mapping] = [this.keyColumn.value, this.#schema.value, this.mapping.value];
    return findProblems(this.sheet, { key, schema, mapping });
  });
  readonly blocked = computed(() => this.keyColumn.value === "" || this.problems.value.some(isBlocking));

  /** Made once per header, so that what of it is sent stays sent. */
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

  choose(change: Partial<Chosen>): void {
    if (change.schema !== undefined) this.#changes.value = null;
    this.chosen.value = { ...this.chosen.value, ...change };
  }

  map(mapping: Mapping): void {
    this.#changes.value = mapping;
  }

  /** Sends the file under its present header, unless that is done or under way. */
  send(): void {
    const { file, error } = this.upload;
    if (file.value === this.#sent.value && !error.value) return;
    this.upload.begin(this.#sent.value, this.#header.value);
  }

  /** Creates the job as soon as the file is there. Null if it was taken back, or failed. */
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

  /** Takes the start back. The upload goes on. */
  doNotStart(): void {
    this.#pending.abort();
    this.#pending = new AbortController();
    this.stage.value = "none";
  }

  close(): void {
    this.doNotStart();
    this.upload.remove();
  }

  /** The same request again is the same job, even if the reply to the first was lost. */
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

  /** What the server does not have any more is not asked for again: who presses the button once more wants another one. */
  #startOver({ kind, errors }: ProblemError): void {
    if (kind === "job-deleted") this.#lastRequest.text = "";
    if (!errors.some(({ pointer }) => pointer === "/fileGuid")) return;
    this.upload.forget();
    this.upload.remove();
  }
}

/** By the file's name. */
function datasetName(fileName: string): string {
  const stem = fileName.replace(/\.[^.]*$/, "");
  const name = stem
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 64);
  return name.toLowerCase() || "records";
}

/** What was chosen for that dataset before. */
function rememberedSchema(dataset: string): Schema | null {
  const found = schemaOf(dataset);
  return found ? readSchema(found.name, found.text) : null;
}
