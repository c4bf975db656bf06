/**
 * What this browser remembers to be kind: which dataset a job wrote, which schema a dataset had, and the uploads that were
 * not ended. The API does not broadcast, and nothing depends on it. Each person has their own; forgotten at sign-out.
 */

import type { ResumeState } from "longshore-client/upload";

const DATASETS = "datasets";
const SCHEMAS = "schemas";
const UPLOADS = "uploads";
/** Entries of each kind; the oldest give way. */
const MAX_ENTRIES = 200;

/** Whose it is: the subject of their token, empty where nobody signs in. */
let owner = "";

/** Whose memory is read and written from now on. */
export function setMemoryOwner(person: string): void {
  owner = person;
}

/** Which dataset a job writes, if it was created in this browser. */
export function datasetOf(jobId: string): string | undefined {
  return lookUp<string>(DATASETS, jobId);
}

export function rememberDataset(jobId: string, dataset: string): void {
  write(DATASETS, jobId, dataset);
}

/** The schema with which a dataset was imported last: its file's name and text. */
export function schemaOf(dataset: string): { name: string; text: string } | undefined {
  return lookUp<{ name: string; text: string }>(SCHEMAS, dataset);
}

export function rememberSchema(dataset: string, schema: { name: string; text: string }): void {
  write(SCHEMAS, dataset, schema);
}

/** By what the upload of a file is lookUp again, in this tab and in others. `header`: the one that it was given, if any. */
export function uploadKey({ name, size, lastModified }: File, header: string | null): string {
  return JSON.stringify([name, size, lastModified, header]);
}

/** The upload of a file that was begun and has not ended: it goes on where it was left. */
export function unfinishedUpload(upload: string): ResumeState | null {
  return lookUp<ResumeState>(UPLOADS, upload) ?? null;
}

export function rememberUpload(upload: string, begun: ResumeState): void {
  write(UPLOADS, upload, begun);
}

/** Forgets an upload that has ended, unless another tab has begun one in its storageKey. */
export function forgetUpload(upload: string, fileGuid: string): void {
  if (unfinishedUpload(upload)?.fileGuid === fileGuid) write(UPLOADS, upload, null);
}

export function forgetAll(): void {
  localStorage.removeItem(storageKey(UPLOADS));
  localStorage.removeItem(storageKey(DATASETS));
  localStorage.removeItem(storageKey(SCHEMAS));
}

/** Where one kind of it is kept. */
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

/** Null for what an older page wrote otherwise. */
function parse<T>(text: string | null): T | null {
  try {
    return JSON.parse(text ?? "null") as T | null;
  } catch {
    return null;
  }
}

/** Null takes it out. */
function write<T>(kind: string, name: string, value: T | null): void {
  const { [name]: _, ...others } = read<T>(kind);
  const entries = [...Object.entries(others), ...(value === null ? [] : [[name, value]])].slice(-MAX_ENTRIES);
  try {
    localStorage.setItem(storageKey(kind), JSON.stringify(Object.fromEntries(entries)));
  } catch {
    // Full: it is only kindness.
  }
}
