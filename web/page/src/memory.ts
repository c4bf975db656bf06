/**
 * What this browser remembers to be kind: which dataset a job wrote, which schema a dataset had, and the upload that was not
 * ended. The API does not tell, and nothing depends on it. Each person has their own; forgotten at sign-out.
 */

import type { ResumeState } from "longshore-client/upload";

const DATASETS = "datasets";
const SCHEMAS = "schemas";
const UPLOAD = "upload";
/** Entries of each kind; the oldest give way. */
const KEPT = 200;

/** Whose it is: the subject of their token, empty where nobody signs in. */
let owner = "";

/** Whose memory is read and written from now on. */
export function rememberFor(person: string): void {
  owner = person;
}

/** Which dataset a job writes, if it was created in this browser. */
export function datasetOf(jobId: string): string | undefined {
  return read<string>(DATASETS)[jobId];
}

export function rememberDataset(jobId: string, dataset: string): void {
  write(DATASETS, jobId, dataset);
}

/** The schema with which a dataset was imported last: its file's name and text. */
export function schemaOf(dataset: string): { name: string; text: string } | undefined {
  return read<{ name: string; text: string }>(SCHEMAS)[dataset];
}

export function rememberSchema(dataset: string, schema: { name: string; text: string }): void {
  write(SCHEMAS, dataset, schema);
}

/** The upload that was begun last and has not ended, if it is of this file: it goes on where it was left. */
export function begunUpload({ name, size, lastModified }: File): ResumeState | null {
  const begun = parse<ResumeState>(localStorage.getItem(place(UPLOAD)));
  const same = begun?.fileName === name && begun.size === size && begun.lastModified === lastModified;
  return same ? begun : null;
}

/** Remembers that an upload has begun; null when it has ended. */
export function rememberUpload(begun: ResumeState | null): void {
  if (begun) localStorage.setItem(place(UPLOAD), JSON.stringify(begun));
  else localStorage.removeItem(place(UPLOAD));
}

export function forgetAll(): void {
  localStorage.removeItem(place(UPLOAD));
  localStorage.removeItem(place(DATASETS));
  localStorage.removeItem(place(SCHEMAS));
}

/** Where one kind of it is kept. */
function place(kind: string): string {
  return `longshore.${kind}.${owner}`;
}

function read<T>(kind: string): Record<string, T> {
  return parse<Record<string, T>>(localStorage.getItem(place(kind))) ?? {};
}

/** Null for what an older page wrote otherwise. */
function parse<T>(text: string | null): T | null {
  try {
    return JSON.parse(text ?? "null") as T | null;
  } catch {
    return null;
  }
}

function write<T>(kind: string, name: string, value: T): void {
  const { [name]: _, ...others } = read<T>(kind);
  const entries = [...Object.entries(others), [name, value]].slice(-KEPT);
  try {
    localStorage.setItem(place(kind), JSON.stringify(Object.fromEntries(entries)));
  } catch {
    // Full: it is only kindness.
  }
}
