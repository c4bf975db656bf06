/** The cost of a job as a line and as rows. */

import { type CostParts, hasEnded, type Job } from "longshore-client";
import { text } from "./text";

type Costs = Pick<Job, "cost" | "costEstimate" | "fileName" | "maxCost" | "source" | "status" | "undoes">;

/** Returns the cost as one line; null if neither a cost nor an estimate is known, and none is to be expected. */
export function costLine(job: Costs): string | null {
  const t = text.cost;
  const estimate = job.costEstimate;
  const max = job.maxCost ? [t.max(job.maxCost)] : [];
  if (!job.cost || (job.status === "waiting" && job.cost.total === 0)) {
    if (estimate) return [t.estimated(estimate.total), ...max].join(" · ");
    return isNotEstimated(job) ? [t.notEstimated, ...max].join(" · ") : null;
  }
  const spent = (hasEnded(job) ? t.total : t.soFar)(job.cost.total);
  return [spent, ...(estimate ? [t.ofEstimate(estimate.total)] : []), ...max].join(" · ");
}

/**
 * Returns true if a job has items, but no estimate: over a dataset, or over a compressed file. Jobs that have ended
 * before costs were recorded have none either, so only unfinished ones count.
 */
function isNotEstimated(job: Costs): boolean {
  if (hasEnded(job) || job.undoes || job.costEstimate) return false;
  return job.source?.kind === "dataset" || Boolean(job.fileName);
}

/** A part, or the sum, of a cost and of its estimate. */
export interface CostRow {
  readonly name: string;
  readonly estimate: number | undefined;
  readonly cost: number | undefined;
}

/** Returns a row for each part and one for the sum. */
export function costRows({ cost, costEstimate }: Pick<Job, "cost" | "costEstimate">): CostRow[] {
  const parts = Object.entries(text.cost.parts) as [keyof CostParts, string][];
  const rows = parts.map(([part, name]) => ({
    name,
    estimate: costEstimate?.parts[part],
    cost: cost?.parts[part],
  }));
  return [...rows, { name: text.cost.sum, estimate: costEstimate?.total, cost: cost?.total }];
}
