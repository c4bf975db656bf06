// Imports a CSV file and waits for it: LONGSHORE_API_URL=… LONGSHORE_TOKEN=… node examples/node.mjs people.csv [key column]

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

/** Where an upload is kept until its job is created: the same call goes on with it. */
const statePath = `${path}.upload.json`;

/** Ctrl-C ends the waiting. The upload goes on with the next call, and the job without one. */
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
  // Not before: were the job refused, the file would have to be sent again.
  await rm(statePath, { force: true });

  let job;
  for await (job of client.watch(jobId, { signal })) console.log(job.message);

  const { succeeded, failed, skipped } = job.counts;
  console.log(`${job.status}: ${succeeded} succeeded, ${failed} failed, ${skipped} skipped`);
  if (job.error) console.log(job.error.message);
  if (failed > 0) {
    const failures = await client.failuresCsv(jobId, { signal });
    await writeFile(`${dataset}-failed.csv`, failures.stream());
    console.log(`What failed, and why: ${dataset}-failed.csv`);
  }
  return job.status === "completed";
}

/** The file with its name and date, by which an upload of it is known again. */
async function open() {
  const lastModified = Math.trunc((await stat(path)).mtimeMs);
  return new File([await openAsBlob(path)], basename(path), { lastModified });
}

/** Sends the file, or what is missing of it if that was interrupted before. */
async function send(client, file) {
  const resume = await kept(file);
  const onBegun = (state) => writeFileSync(statePath, JSON.stringify(state));
  const onProgress = ({ sentBytes, totalBytes }) => console.log(`Sent ${sentBytes} of ${totalBytes} bytes`);
  try {
    return (await upload(client, file, { resume, onBegun, onProgress, signal })).fileGuid;
  } catch (error) {
    // What the API has forgotten, after a day, is begun anew the next time.
    if (["not-found", "upload-abandoned"].includes(error.kind)) await rm(statePath, { force: true });
    throw error;
  }
}

/** The upload that was begun with this very file, if there is one. */
async function kept({ name, size, lastModified }) {
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
