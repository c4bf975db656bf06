/** The state of a job: its status as a coloured badge, and whether it only checks its file. */

import type { Job, Status } from "longshore-client";
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
