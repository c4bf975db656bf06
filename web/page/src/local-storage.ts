/**
 * Entries in localStorage for convenience: the dataset of a job, the schema of a dataset, and unfinished uploads. The API does not return them, and the page works without them. Separate for each user; deleted at
 * sign-out.
 */

import type { ResumeState } from "longshore-client/upload";

const DATASETS = "datasets";
const SCHEMAS = "schemas";
const UPLOADS = "uploads";
/** Maximum entries of each kind; the oldest are dropped. */
const MAX_ENTRIES = 200;

/** The user: the subject of the token, empty without sign-in. */
let owner = "";

/** Selects the user whose entries are read and written. */
export function setStorageOwner(person: string): void {
  owner = person;
}

/** Returns the dataset of a job that was created in this browser. */
export function datasetOf(jobId: string): string | undefined {
  return lookUp<string>(DATASETS, jobId);
}

export function rememberDataset(jobId: string, dataset: string): void {
  write(DATASETS, jobId, dataset);
}

/** Returns the schema of a dataset's last import: its file's name and text. */
export function schemaOf(dataset: string): { name: string; text: string } | undefined {
  return lookUp<{ name: string; text: string }>(SCHEMAS, dataset);
}

export function rememberSchema(dataset: string, schema: { name: string; text: string }): void {
  write(SCHEMAS, dataset, schema);
}

/** The key of a file's upload, in all tabs. */
export function uploadKey({ name, size, lastModified }: File): string {
  return JSON.stringify([name, size, lastModified]);
}

/** Returns the unfinished upload of a file, to resume it. */
export function unfinishedUpload(upload: string): ResumeState | null {
  return lookUp<ResumeState>(UPLOADS, upload) ?? null;
}

export function rememberUpload(upload: string, state: ResumeState): void {
  write(UPLOADS, upload, state);
}

/** Deletes an ended upload, unless another tab has replaced it since. */
export function forgetUpload(upload: string, fileGuid: string): void {
  if (unfinishedUpload(upload)?.fileGuid === fileGuid) write(UPLOADS, upload, null);
}

export function forgetAll(): void {
  localStorage.removeItem(storageKey(UPLOADS));
  localStorage.removeItem(storageKey(DATASETS));
  localStorage.removeItem(storageKey(SCHEMAS));
}

/** The localStorage key of one kind of entry. */
function storageKey(kind: string): string {
  return `longshore.${kind}.${owner}`;
}

function read<T>(kind: string): Record<string, T> {
  return parse<Record<string, T>>(localStorage.getItem(storageKey(kind))) ?? {};
}

function lookUp<T>(kind: string, name: string): T | undefined {
  const all = read<T>(kind);
  return Object.hasOwn(all, name) ? all[name] : undefined;
}

/** Returns null for a format of an older page. */
function parse<T>(text: string | null): T | null {
  try {
    return JSON.parse(text ?? "null") as T | null;
  } catch {
    return null;
  }
}

/** Writes an entry; null deletes it. */
function write<T>(kind: string, name: string, value: T | null): void {
  const { [name]: _, ...others } = read<T>(kind);
  const entries = [...Object.entries(others), ...(value === null ? [] : [[name, value]])].slice(-MAX_ENTRIES);
  try {
    localStorage.setItem(storageKey(kind), JSON.stringify(Object.fromEntries(entries)));
  } catch {
    // The storage is full; the entry is a convenience only.
  }
}
