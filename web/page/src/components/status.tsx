/** A job's status as a coloured badge. */

import type { Status } from "longshore-client";
import { text } from "../text";

export function StatusBadge({ status }: { status: Status }) {
  return <span class={`badge ${status}`}>{text.status[status]}</span>;
}
