/** The result of an ended job: its error, warnings, failures and files. */

import type { Job, Output } from "longshore-client";
import { useState } from "preact/hooks";
import { api } from "../api";
import { useJob } from "../job";
import { useLoad } from "../load";
import { datasetOf } from "../local-storage";
import { type FileName, linkOf, save, saveFailed } from "../report-files";
import { text } from "../text";
import { CorrectionsCard } from "./corrections-card";
import { CodeMessage, ErrorNotice } from "./errors";
import { FailedImages } from "./failed-images";
import { Failures } from "./failures";
import { ImageGrid } from "./image-grid";
import { Results } from "./results";
import { isCheck, undoState } from "./status";

export function Result({ job, onReopened }: { job: Job; onReopened: () => void }) {
  const output = useLoad((signal) => api.output(job.jobId, { signal }), [job.jobId, job.attempts]);
  const failed = job.counts.failed;
  const dataset = datasetOf(job.jobId);
  const isOfImages = job.jobType === "image";
  const wrote = job.counts.succeeded > 0 && !isCheck(job);
  return (
    <>
      {job.error && (
        <div class="notice bad">
          <p>
            <CodeMessage words={text.jobCodes[job.error.code]} message={job.error.message} />
          </p>
        </div>
      )}
      <Issues issues={output.value?.issues ?? job.issues} />
      {job.jobType === "export" && output.value && <Exported job={job} output={output.value} />}
      {job.undoneBy ? (
        <Undone job={job} undo={job.undoneBy} />
      ) : (
        job.status === "completed" && failed === 0 && job.jobType !== "export" && <Success job={job} />
      )}
      {failed > 0 && isCheck(job) && <CheckedBad job={job} />}
      {failed > 0 && !isCheck(job) && !job.undoes && !job.undoneBy && job.source?.kind !== "dataset" && (
        <CorrectionsCard job={job} onReopened={onReopened} download={(format) => saveFailed(job, format)} />
      )}
      {failed > 0 && (isOfImages ? <FailedImages job={job} /> : <Failures job={job} />)}
      {output.value?.files.results && (isOfImages ? <ImageGrid job={job} /> : <Results job={job} />)}
      {output.value && <Files jobId={job.jobId} output={output.value} />}
      <ErrorNotice error={output.error} retry={output.reload} />
      {wrote && dataset && (
        <p>
          <a href={`/datasets/${dataset}`}>{text.job.dataset(dataset)}</a>
        </p>
      )}
    </>
  );
}

/** That no item failed, or that there was none. */
function Success({ job }: { job: Job }) {
  if (job.itemCount > 0 || job.undoes) return <p class="notice good">{successText(job)}</p>;
  return <p class="notice">{job.source?.kind === "file" ? text.job.noRows : text.job.noItems}</p>;
}

function successText(job: Job): string {
  if (job.undoes) return job.undoes.preview ? text.undo.previewed : text.undo.done;
  return isCheck(job) ? text.job.allChecked : text.job.allRight;
}

/** The state of the undo of an import, followed to its end. */
function Undone({ job, undo }: { job: Job; undo: string }) {
  const { job: watched } = useJob(undo);
  return <p class="notice">{text.job.undone[undoState(job, watched ? [watched] : [])]}</p>;
}

/** The file of an export, or that there is none. */
function Exported({ job, output }: { job: Job; output: Output }) {
  const [error, setError] = useState<unknown>(null);
  const file = output.files.results;
  if (!file) return job.status === "completed" ? <p class="notice">{text.exports.empty}</p> : null;
  return (
    <>
      <div class="actions">
        <button type="button" class="main" onClick={() => void save(job.jobId, "results").catch(setError)}>
          {text.exports.download(file.rows)}
        </button>
      </div>
      <ErrorNotice error={error} />
    </>
  );
}

/** A start imports the file as it was checked, so rows cannot be corrected before it. */
function CheckedBad({ job }: { job: Job }) {
  const { checkedBad, checkedBadStarted, another } = text.job;
  return (
    <div class="notice warn">
      <p>{job.startedAs ? checkedBadStarted : checkedBad(job.counts.failed)}</p>
      {!job.startedAs && <a href="/">{another}</a>}
    </div>
  );
}

function Issues({ issues }: { issues: Job["issues"] }) {
  if (issues.length === 0) return null;
  return (
    <div class="notice">
      <div>
        <strong>{text.job.issues}</strong>
        <ul>
          {issues.map(({ code, message }) => (
            <li key={code + message}>
              <CodeMessage words={text.jobCodes[code]} message={message} />
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

function Files({ jobId, output }: { jobId: string; output: Output }) {
  const [error, setError] = useState<unknown>(null);
  const names: FileName[] = ["results", "failed", "skipped", "unprocessed", "receipt"];
  const available = names.filter((name) => linkOf(output, name));
  if (available.length === 0) return null;
  return (
    <section class="card" aria-labelledby="files-title">
      <h2 id="files-title">{text.job.files}</h2>
      <ul class="files">
        {available.map((name) => (
          <li key={name}>
            <button type="button" class="plain" onClick={() => void save(jobId, name).catch(setError)}>
              {text.job.fileNames[name]}
            </button>
            {name !== "receipt" && (
              <span class="quiet small">{text.job.fileRows(output.files[name]?.rows ?? 0)}</span>
            )}
          </li>
        ))}
      </ul>
      <ErrorNotice error={error} />
    </section>
  );
}
