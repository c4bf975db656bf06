// A page without a build step: uploads a file, creates a job, shows its progress, links to the failed rows.

import { createClient, upload } from "../dist/longshore-client.js";

/** The storage key of an unfinished upload, which is resumed after a reload. */
const RESUME = "longshore-resume";

const form = document.querySelector("#import");
const progress = document.querySelector("#progress");
const message = document.querySelector("#message");
const failed = document.querySelector("#failed");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { start, cancel } = form.elements;
  start.disabled = true;
  failed.hidden = true;
  try {
    await importFile(new FormData(form), cancel);
  } catch (error) {
    message.textContent = error.message;
  } finally {
    start.disabled = false;
    cancel.disabled = true;
  }
});

async function importFile(fields, cancel) {
  const client = createClient({ baseUrl: fields.get("baseUrl"), token: () => fields.get("token") });
  const fileGuid = await put(client, fields.get("file"), cancel);
  const options = { dataset: fields.get("dataset"), key: fields.get("key") };
  const { jobId } = await client.createJob({ jobType: "import", fileGuid, options });
  // Deleted only now: if the API had refused the job, the file would have to be sent again.
  localStorage.removeItem(RESUME);
  cancel.disabled = false;
  cancel.onclick = () => client.cancel(jobId).catch((error) => show(error.message, progress.value));
  for await (const job of client.watch(jobId)) show(job.message, job.percent);
  const { counts, files } = await client.output(jobId);
  show(`${counts.succeeded} succeeded, ${counts.failed} failed`, 100);
  if (files.failed) {
    failed.href = files.failed.url;
    failed.hidden = false;
  }
}

/** Uploads the file, or the missing parts of an interrupted upload. */
async function put(client, file, cancel) {
  const abort = new AbortController();
  cancel.disabled = false;
  cancel.onclick = () => abort.abort(new Error("Stopped. Import the same file again to resume."));
  try {
    const { fileGuid } = await upload(client, file, {
      signal: abort.signal,
      resume: unfinishedUpload(file),
      onBegun: (state) => localStorage.setItem(RESUME, JSON.stringify(state)),
      onProgress: ({ sentBytes, totalBytes }) => show("Sending the file...", (100 * sentBytes) / totalBytes),
    });
    return fileGuid;
  } catch (error) {
    // The API forgets an unfinished upload after a day. The next attempt then starts a new one.
    if (["not-found", "upload-abandoned"].includes(error.kind)) localStorage.removeItem(RESUME);
    throw error;
  }
}

/** Returns the state of an unfinished upload of this file, or null. */
function unfinishedUpload(file) {
  const state = JSON.parse(localStorage.getItem(RESUME));
  const isSame =
    state?.fileName === file.name && state.size === file.size && state.lastModified === file.lastModified;
  return isSame ? state : null;
}

function show(text, percent) {
  message.textContent = text;
  progress.value = percent;
}
