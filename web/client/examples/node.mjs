// Imports a CSV file and waits for the job: LONGSHORE_API_URL=… LONGSHORE_TOKEN=… node examples/node.mjs
// people.csv [key column]

import { openAsBlob, writeFileSync } from "node:fs";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import { createClient, ProblemError } from "longshore-client";
import { upload } from "longshore-client/upload";

const [path, keyColumn] = process.argv.slice(2);
const { LONGSHORE_API_URL: baseUrl, LONGSHORE_TOKEN: token } = process.env;
if (!path || !baseUrl) {
  console.error("LONGSHORE_API_URL=… LONGSHORE_TOKEN=… node examples/node.mjs people.csv [key column]");
  process.exit(2);
}

/** The state of an unfinished upload. The next run of the same command resumes it. */
const statePath = `${path}.upload.json`;

/** Ctrl-C stops this script. The next run resumes the upload; a created job continues without the script. */
const interrupted = new AbortController();
process.once("SIGINT", () => interrupted.abort(new Error("Interrupted")));
const { signal } = interrupted;

async function importFile() {
  const client = createClient({ baseUrl, token: () => token });
  const file = await open();
  const fileGuid = await send(client, file);

  const dataset = basename(path, extname(path))
    .replace(/[^A-Za-z0-9_-]/g, "-")
    .slice(0, 64);
  const options = { dataset, key: keyColumn ?? (await firstColumn(file)) };
  const { jobId } = await client.createJob({ jobType: "import", fileGuid, options }, { signal });
  // Deleted only now: if the API had refused the job, the file would have to be sent again.
  await rm(statePath, { force: true });

  let job;
  for await (job of client.watch(jobId, { signal })) console.log(job.message);

  const { succeeded, failed, skipped } = job.counts;
  console.log(`${job.status}: ${succeeded} succeeded, ${failed} failed, ${skipped} skipped`);
  if (job.error) console.log(job.error.message);
  if (failed > 0) {
    const failures = await client.failuresCsv(jobId, { signal });
    await writeFile(`${dataset}-failed.csv`, failures.stream());
    console.log(`Failed rows, with reasons: ${dataset}-failed.csv`);
  }
  return job.status === "completed";
}

/** Opens the file with its name and modification date, which identify its upload. */
async function open() {
  const lastModified = Math.trunc((await stat(path)).mtimeMs);
  return new File([await openAsBlob(path)], basename(path), { lastModified });
}

/** Sends the file, or the missing parts of an interrupted upload. */
async function send(client, file) {
  const resume = await unfinishedUpload(file);
  const onBegun = (state) => writeFileSync(statePath, JSON.stringify(state));
  const onProgress = ({ sentBytes, totalBytes }) => console.log(`Sent ${sentBytes} of ${totalBytes} bytes`);
  try {
    return (await upload(client, file, { resume, onBegun, onProgress, signal })).fileGuid;
  } catch (error) {
    // The API forgets an unfinished upload after a day. The next run then starts a new one.
    if (["not-found", "upload-abandoned"].includes(error.kind)) await rm(statePath, { force: true });
    throw error;
  }
}

/** Returns the state of an unfinished upload of this file, or null. */
async function unfinishedUpload({ name, size, lastModified }) {
  const state = JSON.parse(await readFile(statePath, "utf8").catch(() => "null"));
  const isSame = state?.fileName === name && state.size === size && state.lastModified === lastModified;
  return isSame ? state : null;
}

async function firstColumn(file) {
  const [header] = (await file.slice(0, 4096).text()).split(/\r?\n/);
  return header
    .replace(/^\uFEFF/, "")
    .split(",")[0]
    .replaceAll('"', "");
}

try {
  process.exitCode = (await importFile()) ? 0 : 1;
} catch (error) {
  const problems =
    error instanceof ProblemError ? error.errors.map(({ pointer, detail }) => `${pointer}: ${detail}`) : [];
  console.error([`${error.name}: ${error.message}`, ...problems].join("\n"));
  process.exitCode = 1;
}
