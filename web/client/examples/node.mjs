// Imports a CSV file and waits for it: LONGSHORE_API_URL=… LONGSHORE_TOKEN=… node examples/node.mjs people.csv [key column]

import { openAsBlob } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import { createClient, ProblemError } from "longshore-client";
import { upload } from "longshore-client/upload";

const [path, keyColumn] = process.argv.slice(2);
const { LONGSHORE_API_URL: baseUrl, LONGSHORE_TOKEN: token } = process.env;
if (!path || !baseUrl) {
  console.error("LONGSHORE_API_URL=… LONGSHORE_TOKEN=… node examples/node.mjs people.csv [key column]");
  process.exit(2);
}

/** Ctrl-C ends the waiting. The upload can be resumed, and the job goes on. */
const interrupted = new AbortController();
process.once("SIGINT", () => interrupted.abort(new Error("Interrupted")));
const { signal } = interrupted;

async function importFile() {
  const client = createClient({ baseUrl, token: () => token });
  const file = await openAsBlob(path);
  const fileName = basename(path);
  const onProgress = ({ sentBytes, totalBytes }) => console.log(`Sent ${sentBytes} of ${totalBytes} bytes`);
  const { fileGuid } = await upload(client, file, { fileName, onProgress, signal });

  const dataset = basename(path, extname(path))
    .replace(/[^A-Za-z0-9_-]/g, "-")
    .slice(0, 64);
  const options = { dataset, key: keyColumn ?? (await firstColumn(file)) };
  const { jobId } = await client.createJob({ jobType: "import", fileGuid, options }, { signal });

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
