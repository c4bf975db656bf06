/** The state of a job: its status as a coloured badge, whether it only checks its file, and the state of its undo. */

import { hasEnded, type Job, type Status } from "longshore-client";
import { text } from "../text";

export function StatusBadge({ status }: { status: Status }) {
  return <span class={`badge ${status}`}>{text.status[status]}</span>;
}

/**
 * Returns true for a check that can be started, or was started, as an import. A check that did not complete
 * is not recognizable.
 */
export function isCheck({ links, startedAs }: Pick<Job, "links" | "startedAs">): boolean {
  return Boolean(links.start ?? startedAs);
}

/** The state of an undo; unknown if its job is not among those that the page has read. */
export type UndoState = "active" | "completed" | "partly" | "unknown";

/** Returns the state of an import's undo, which is among `jobs` if the page has read it. */
export function undoState({ undoneBy }: Pick<Job, "undoneBy">, jobs: readonly Job[]): UndoState {
  const undo = jobs.find(({ jobId }) => jobId === undoneBy);
  if (!undo) return "unknown";
  if (!hasEnded(undo)) return "active";
  return undo.status === "completed" ? "completed" : "partly";
}
