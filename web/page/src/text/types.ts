/** Texts of registered job types: their list, what operators see, and the form of a run. */

import { duration, number, plural } from "./format";

const SUBSET =
  "The form can show one level of options: texts, numbers, yes or no, and choices from a list, with titles, descriptions, " +
  "defaults, ranges and lengths.";

export const typesText = {
  types: {
    title: "Job types",
    lead: "Each type runs items through a function or an endpoint of your organisation.",
    none: "There are no job types yet.",
    caption: "Job types by name",
    back: "All job types",
    name: "Name",
    description: "Description",
    noDescription: "-",
    items: "Items",
    inputs: { file: "A file, or text", dataset: "A dataset" },
    status: "Status",
    statuses: { active: "Active", pending: "Pending", refused: "Refused" },
    changes: { pending: "Change pending", refused: "Change refused" } as Record<string, string>,
    target: "Handler",
    rate: "Rate",
    perSecond: (rate: number) => `${number(rate)} a second`,
    noRate: "No limit",
    notActive: {
      active: "",
      pending: "The handler has not answered yet. Jobs of this type can be created once it has.",
      refused: "The handler did not answer well, so jobs of this type cannot be created.",
    },
  },

  operator: {
    title: "For operators",
    target: "Handler",
    batch: "Batch",
    batchOf: (items: number, size: string, seconds: number) =>
      `Up to ${plural(items, "item", "items")} or ${size}, ${duration(seconds)}`,
    concurrency: "Calls at a time",
    rate: "Rate limit",
    tries: "Tries of an item",
    outage: "Longest outage",
    outageOf: (seconds: number) => duration(seconds),
    modes: "Modes",
    updated: "Last change",
    candidate: {
      pending: "A registration waits for its handler.",
      refused: "A registration was refused.",
    } as Record<string, string>,
    kept: "The active one stays in force.",
    at: (when: string) => `Since ${when}`,
    hint: "Job types are registered and changed by the API:",
    check: "Before that, the command line checks a handler:",
    delete: "Delete job type",
    confirmTitle: (name: string) => `Delete the job type ${name}?`,
    confirmBody: "No further job of this type can be created. Jobs that exist keep running.",
    confirm: "Delete job type",
    keep: "Keep it",
    deleted: (name: string) => `The job type ${name} was deleted.`,
  },

  run: {
    run: (name: string) => `Run ${name}`,
    options: "Options",
    noOptions: "This type has no options.",
    optional: "optional",
    notSet: "Not set",
    yes: "Yes",
    no: "No",
    choose: "Choose one",
    range: (minimum: number | null, maximum: number | null, isInteger: boolean) => {
      const kind = isInteger ? "A whole number" : "A number";
      if (minimum !== null && maximum !== null) return `${kind} from ${minimum} to ${maximum}.`;
      if (minimum !== null) return `${kind}, at least ${minimum}.`;
      return maximum !== null ? `${kind}, at most ${maximum}.` : `${kind}.`;
    },
    length: (min: number | null, max: number | null) => {
      if (min !== null && max !== null) return `${number(min)} to ${number(max)} characters.`;
      if (min !== null && min > 0) return `At least ${plural(min, "character", "characters")}.`;
      return max !== null ? `At most ${plural(max, "character", "characters")}.` : null;
    },
    pattern: "The format is checked when you start.",
    problems: {
      missing: () => "Fill in this field.",
      "not-a-number": () => "This is not a number. Write it with digits and a decimal point.",
      "not-whole": () => "This must be a whole number.",
      "too-many-digits": () => "This number has too many digits.",
      "too-small": (limit: number) => `This must be at least ${limit}.`,
      "too-large": (limit: number) => `This must be at most ${limit}.`,
      "too-short": (limit: number) => `This needs at least ${plural(limit, "character", "characters")}.`,
      "too-long": (limit: number) => `This can have at most ${plural(limit, "character", "characters")}.`,
    } as Record<string, (limit: number) => string>,
    json: "Options as JSON",
    jsonHint: "A JSON object. The server checks it when you start.",
    jsonAny: "A JSON object with any members. Leave it empty if the type needs no options.",
    jsonBad: "This is not a JSON object.",
    schema: "Schema of the options",
    subset: `${SUBSET} This type has others, so its options are one text.`,
    notDrawn: (parts: string[], more: number) =>
      `Without a field: ${parts.join(", ")}${more > 0 ? ` and ${plural(more, "other", "others")}` : ""}.`,
    items: "Items",
    from: "Items from",
    froms: {
      file: ["A file", "CSV with a header, or JSON Lines."],
      text: ["Text", "Paste or type them, one item on each line."],
    } as Record<"file" | "text", [string, string]>,
    drop: "Drop a CSV or JSON Lines file here",
    chooseFile: "or choose a file",
    removeFile: "Remove this file",
    text: "Items, one on each line",
    format: "Format of the text",
    formats: { "json-lines": "JSON, one item on each line", csv: "CSV, with a header" },
    textHint: "Items are uploaded as a file, without a change.",
    dataset: "Dataset",
    datasetHint: "Each of its records is an item.",
    itemSchema: "Schema of an item",
    rate: (rate: number) => `At most ${number(rate)} items a second, over all jobs of this type.`,
    itemsProblems: {
      "no-file": () => "Choose a file.",
      "no-dataset": () => "Choose a dataset.",
      empty: () => "Paste at least one item.",
      "no-rows": () => "The text has a header but no rows.",
      "not-json": (line: number) => `Line ${number(line)} is not JSON.`,
    } as Record<string, (line: number) => string>,
    start: "Start job",
    uploading: "Uploading the items...",
    creating: "Starting...",
    fix: "Nothing was started. Fix the marked fields.",
  },
};
