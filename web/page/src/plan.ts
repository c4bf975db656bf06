/** What the user wants of an import, and what it means for the file: the requests of its inspection and of its job. */

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { ImportOptions, InspectRequest, JobRequest } from "longshore-client";
import { type GivenReading, withGiven } from "./file/inspection";
import { guessKey, repeatedKey } from "./file/key";
import { columnsOption, guessMapping, type Mapping, propertiesOf, UNMAPPED } from "./file/mapping";
import { type Answers, columnQuestions, type Notation, notationsOption } from "./file/questions";
import type { Schema } from "./file/schema";
import { type Table, tableOf } from "./file/table";
import type { Found } from "./inspector";

export type Mode = NonNullable<ImportOptions["mode"]>;

/** The user's choices. */
export interface ImportChoices {
  dataset: string;
  /** A column of the file, before mapping; null while the guess is used. */
  key: string | null;
  mode: Mode;
  schema: Schema | null;
}

const NO_TABLE: Table = { columns: [], rows: [] };
/** The key with which JSON Lines without any property are inspected. */
const ANY_KEY = "id";

export class ImportPlan {
  readonly chosen: Signal<ImportChoices>;
  /** What the user says about how the file is read. */
  readonly reading = signal<GivenReading>({});
  readonly answers = signal<Answers>(new Map());
  /** The first year of two-digit years; null if it is not given. */
  readonly pivotYear = signal<number | null>(null);
  readonly #mappingChange = signal<Mapping | null>(null);
  readonly #leftOut = signal<ReadonlySet<string>>(new Set());

  readonly #answer = computed(() => this.found.value?.answer ?? null);
  readonly table = computed(() => (this.#answer.value ? tableOf(this.#answer.value) : NO_TABLE));
  readonly #guess = computed(() => {
    const { schema } = this.chosen.value;
    const isMapped = schema && this.#answer.value?.format === "csv";
    return isMapped ? guessMapping(schema.fields, this.table.value.columns) : UNMAPPED;
  });
  /** The columns of the schema's fields. */
  readonly mapping = computed<Mapping>(() => {
    const columns = new Set(this.table.value.columns);
    const mapping = this.#mappingChange.value ?? this.#guess.value;
    return new Map([...mapping].filter(([, column]) => columns.has(column)));
  });
  /** The properties of the columns; null for those that are left out. */
  readonly properties = computed(() =>
    propertiesOf(this.table.value.columns, this.mapping.value, this.#leftOut.value),
  );
  /** The file's key column; empty if there is none. */
  readonly keyColumn = computed(() => {
    const { key } = this.chosen.value;
    const isImported = key !== null && this.propertyOf(key) !== "";
    return isImported ? key : guessKey(this.table.value, this.properties.value);
  });
  readonly keyProperty = computed(() => this.propertyOf(this.keyColumn.value));
  /** A value of the key that the first rows have more than once; null if there is none. */
  readonly repeatedKey = computed(() => repeatedKey(this.table.value, this.keyColumn.value));
  readonly questions = computed(() => {
    const fields = this.chosen.value.schema?.fields ?? [];
    const answer = this.#answer.value;
    return answer ? columnQuestions(answer, fields, this.properties.value, this.answers.value) : [];
  });
  /** True while a century must be given, and once it is. */
  readonly asksPivotYear = computed(
    () => this.pivotYear.value !== null || this.#answer.value?.error?.code === "pivot_year_missing",
  );
  /** True if the last answer has the request of a job. */
  readonly isReady = computed(() => this.#answer.value?.request != null && this.keyColumn.value !== "");

  readonly #options = computed<Omit<ImportOptions, "dataset">>(() => {
    const { mode, schema } = this.chosen.value;
    const { columns } = this.table.value;
    const mapped = columnsOption(columns, this.properties.value);
    const notations = notationsOption(columns, this.properties.value, this.answers.value);
    return {
      key: this.keyProperty.value || ANY_KEY,
      mode,
      ...(Object.keys(mapped).length > 0 && { columns: mapped }),
      ...(Object.keys(notations).length > 0 && { notations }),
      ...(this.pivotYear.value !== null && { pivotYear: this.pivotYear.value }),
      ...(schema && { schema: schema.document }),
    };
  });

  /** The request of the inspection: only the file, until the columns of this reading are known. */
  readonly inspection = computed<InspectRequest>(() => {
    const reading = this.reading.value;
    const answer = this.#answer.value;
    const isFound = JSON.stringify(this.found.value?.request.reading) === JSON.stringify(reading);
    const hasColumns = answer?.format === "jsonl" || this.table.value.columns.length > 0;
    if (!answer || !isFound || !hasColumns) return { reading };
    return { jobType: "import", options: { dataset: this.#dataset, ...this.#options.value }, reading };
  });

  readonly #dataset: string;

  /** @param dataset Valid name, which also stands for the chosen one in inspections: they do not depend on it. */
  constructor(
    readonly found: ReadonlySignal<Found | null>,
    dataset: string,
    schema: Schema | null,
  ) {
    this.#dataset = dataset;
    this.chosen = signal<ImportChoices>({ dataset, key: null, mode: "upsert", schema });
  }

  choose(change: Partial<ImportChoices>): void {
    if (change.schema !== undefined) this.#mappingChange.value = null;
    this.chosen.value = { ...this.chosen.value, ...change };
  }

  map(mapping: Mapping): void {
    this.#mappingChange.value = mapping;
  }

  /** Imports a column without a field, or leaves it out. */
  leaveOut(column: string, isLeftOut: boolean): void {
    const others = [...this.#leftOut.value].filter((name) => name !== column);
    this.#leftOut.value = new Set(isLeftOut ? [...others, column] : others);
  }

  answer(column: string, notation: Notation): void {
    this.answers.value = new Map([...this.answers.value, [column, notation]]);
  }

  read(change: GivenReading): void {
    this.reading.value = withGiven(this.reading.value, change);
  }

  /** Returns the property of a column; empty if it has none. */
  propertyOf(column: string): string {
    return this.properties.value[this.table.value.columns.indexOf(column)] ?? "";
  }

  /** Returns the request of the job: what was found, over the whole file. */
  jobRequest(fileGuid: string): JobRequest {
    const request = this.#answer.value?.request as JobRequest;
    return { ...request, fileGuid, options: { ...request.options, dataset: this.chosen.value.dataset } };
  }
}
