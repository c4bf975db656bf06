/** The user's import choices, and the requests derived from them. */

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { ImportOptions, InspectRequest, JobRequest } from "longshore-client";
import { type GivenReading, withGiven } from "./file/inspection";
import { guessKey, repeatedKey } from "./file/key";
import {
  columnsOption,
  leftOutColumns,
  type Mapping,
  type Preset,
  propertiesOf,
  suggestMapping,
  valuesOption,
  withChoices,
} from "./file/mapping";
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

/** The column mapping in effect. */
interface Match {
  mapping: Mapping;
  /** The properties of the columns; null for those that are left out. */
  properties: readonly (string | null)[];
  /** The file's key column; empty if there is none. */
  keyColumn: string;
  values: NonNullable<ImportOptions["values"]>;
}

/** The names of datasets, as a pattern of a field. */
export const DATASET_PATTERN = "[A-Za-z0-9_\\-]{1,64}";

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
  /** The zone of times that name none; null if it is not given. */
  readonly timeZone = signal<string | null>(null);
  /** False once the user wants the columns to be matched by name only. */
  readonly usesPreset = signal(true);
  /** The columns of fields that the user has chosen; empty for none. */
  readonly #fieldChoices = signal<Mapping>(new Map());
  /** The columns that the user has left out (true) or included (false). */
  readonly #leftOutChoices = signal<ReadonlyMap<string, boolean>>(new Map());

  readonly #answer = computed(() => this.found.value?.answer ?? null);
  readonly table = computed(() => (this.#answer.value ? tableOf(this.#answer.value) : NO_TABLE));
  /** The schema's fields to which columns are mapped; JSON Lines have their properties. */
  readonly fields = computed(() => {
    const isMapped = this.#answer.value?.format === "csv";
    return (isMapped && this.chosen.value.schema?.fields) || [];
  });
  readonly #matchByName = computed(() => this.#match(null));
  readonly #matchByPreset = computed(() => {
    const preset = this.#answer.value?.preset;
    return preset ? this.#match(preset) : this.#matchByName.value;
  });
  readonly #matched = computed(() => (this.usesPreset.value ? this.#matchByPreset : this.#matchByName).value);
  /** The dataset whose preset makes a difference to this import; null if there is none. */
  readonly presetDataset = computed(() => {
    const [byPreset, byName] = [this.#matchByPreset.value, this.#matchByName.value].map(
      ({ properties, keyColumn, values }) => JSON.stringify([properties, keyColumn, values]),
    );
    return byPreset === byName ? null : String(this.found.value?.request.options?.dataset);
  });
  /** The columns of properties that are fields of the schema, or in the preset. */
  readonly mapping = computed(() => this.#matched.value.mapping);
  /** The properties of the columns; null for those that are left out. */
  readonly properties = computed(() => this.#matched.value.properties);
  /** The file's key column; empty if there is none. */
  readonly keyColumn = computed(() => this.#matched.value.keyColumn);
  /** The preset's replacements of cells, by property. */
  readonly values = computed(() => this.#matched.value.values);
  readonly keyProperty = computed(() => this.propertyOf(this.keyColumn.value));
  /** A value of the key that the first rows have more than once; null if there is none. */
  readonly repeatedKey = computed(() => repeatedKey(this.table.value, this.keyColumn.value));
  readonly questions = computed(() => {
    const answer = this.#answer.value;
    return answer
      ? columnQuestions(answer, this.fields.value, this.properties.value, this.answers.value)
      : [];
  });
  /** True while a century must be given, and once it is. */
  readonly asksPivotYear = computed(
    () =>
      this.pivotYear.value !== null ||
      this.#answer.value?.error?.code === "pivot_year_missing" ||
      this.questions.value.some(({ isYearShort }) => isYearShort),
  );
  /** True while a time zone must be given, and once it is. */
  readonly asksTimeZone = computed(
    () => this.timeZone.value !== null || this.#answer.value?.error?.code === "time_zone_missing",
  );
  /** True if the user is asked how cells are meant. */
  readonly asks = computed(
    () => this.questions.value.length > 0 || this.asksPivotYear.value || this.asksTimeZone.value,
  );
  /** True if the last answer has the request of a job. */
  readonly isReady = computed(() => this.#answer.value?.request != null && this.keyColumn.value !== "");

  readonly #options = computed<Omit<ImportOptions, "dataset">>(() => {
    const { mode, schema } = this.chosen.value;
    const { columns } = this.table.value;
    const notations = notationsOption(columns, this.properties.value, this.answers.value);
    return {
      key: this.keyProperty.value || ANY_KEY,
      mode,
      // Also if it is empty: without it, the server would use the preset.
      columns: columnsOption(columns, this.properties.value),
      ...(Object.keys(this.values.value).length > 0 && { values: this.values.value }),
      ...(Object.keys(notations).length > 0 && { notations }),
      ...(this.pivotYear.value !== null && { pivotYear: this.pivotYear.value }),
      ...(this.timeZone.value !== null && { timeZone: this.timeZone.value }),
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
    return { jobType: "import", options: { dataset: this.#dataset.value, ...this.#options.value }, reading };
  });

  /** The last valid name that was chosen: inspections need one. */
  readonly #dataset: Signal<string>;

  /** @param dataset Valid name. */
  constructor(
    readonly found: ReadonlySignal<Found | null>,
    dataset: string,
    schema: Schema | null,
  ) {
    this.#dataset = signal(dataset);
    this.chosen = signal<ImportChoices>({ dataset, key: null, mode: "upsert", schema });
  }

  choose(change: Partial<ImportChoices>): void {
    if (change.schema !== undefined) this.#fieldChoices.value = new Map();
    if (isDatasetName(change.dataset)) this.#dataset.value = change.dataset;
    this.chosen.value = { ...this.chosen.value, ...change };
  }

  /** Maps a column to a field of the schema; an empty one leaves the field without a column. */
  map(field: string, column: string): void {
    const others = [...this.#fieldChoices.value].filter(([, taken]) => column === "" || taken !== column);
    this.#fieldChoices.value = new Map([...others, [field, column]]);
  }

  /** Imports a column without a field, or leaves it out. */
  leaveOut(column: string, isLeftOut: boolean): void {
    this.#leftOutChoices.value = new Map([...this.#leftOutChoices.value, [column, isLeftOut]]);
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

  /** Matches the columns as the user chooses, else as in the preset, else by name. */
  #match(preset: Preset | null): Match {
    const table = this.table.value;
    const { columns } = table;
    const leftOut = leftOutColumns(columns, preset, this.#leftOutChoices.value);
    const imported = columns.filter((column) => !leftOut.has(column));
    const choices = [...this.#fieldChoices.value].filter(
      ([, column]) => column === "" || columns.includes(column),
    );
    const mapping = withChoices(suggestMapping(imported, preset, this.fields.value), new Map(choices));
    const properties = propertiesOf(columns, mapping, leftOut);
    const { key } = this.chosen.value;
    const isImported = key !== null && Boolean(properties[columns.indexOf(key)]);
    const keyColumn = isImported ? key : guessKey(table, properties, preset?.key);
    return { mapping, properties, keyColumn, values: valuesOption(preset, properties) };
  }
}

function isDatasetName(name: string | undefined): name is string {
  return name !== undefined && new RegExp(`^${DATASET_PATTERN}$`).test(name);
}
