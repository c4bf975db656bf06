/** The status of a job type as coloured badges: its own, and that of a change. */

import type { JobType } from "longshore-client";
import { text } from "../text";

/** The look of a status, that of a job's badge. */
const LOOKS = { active: "completed", pending: "running", refused: "failed" };

export function TypeStatus({ type }: { type: JobType }) {
  const { status } = type;
  const change = status === "active" ? type.candidate?.status : undefined;
  return (
    <span class="badges">
      <span class={`badge ${LOOKS[status]}`}>{text.types.statuses[status]}</span>
      {change && <span class={`badge ${LOOKS[change]}`}>{text.types.changes[change] ?? change}</span>}
    </span>
  );
}
