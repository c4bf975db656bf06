/** The text of the dialog before a deletion. */

import { hasEnded, type Job } from "longshore-client";
import { text } from "./text";

/** Describes the deletion of a job: what goes with it, and what remains. */
export function deletion(job: Job): string {
  const t = text.confirm;
  const isUndoable = job.links.undo !== null || !hasEnded(job);
  const rest: Record<string, string> = {
    import: isUndoable ? t.deleteUndoable : t.deleteImport,
    undo: t.deleteUndo,
    export: t.deleteExport,
    "delete-dataset": t.deleteRecords,
  };
  // A check or a preview has written nothing.
  const isWriter = !job.undoes?.preview && !job.links.start && !job.startedAs;
  return [t.deleteFiles, !hasEnded(job) && t.deleteStops, isWriter && rest[job.jobType]]
    .filter(Boolean)
    .join(" ");
}
