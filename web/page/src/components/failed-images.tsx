/** The images that failed, each with its source and the reason. */

import type { Failure, Job } from "longshore-client";
import { api } from "../api";
import { cellText } from "../file/table";
import { useList } from "../load";
import { failureReason, text } from "../text";
import { CodeMessage, ErrorNotice } from "./errors";
import { More } from "./tables";

/** Failed images of a page. */
const PAGE = 48;

export function FailedImages({ job }: { job: Job }) {
  const t = text.images;
  const list = useList(
    async (cursor, signal) => {
      const { failures, nextCursor } = await api.failures(job.jobId, { limit: PAGE, cursor, signal });
      return { items: failures, nextCursor };
    },
    [job.jobId, job.attempts],
  );
  return (
    <section aria-labelledby="failed-images-title">
      <h2 id="failed-images-title">{t.failed}</h2>
      <ErrorNotice error={list.error} retry={list.reload} />
      <ul class="thumbnails failed-images">
        {list.items?.map((failure) => (
          <li key={failure.number}>
            <strong class="small">{t.failedItem(failure)}</strong>
            <span class="quiet small source">{sourceOf(failure)}</span>
            <span class="small">
              <CodeMessage words={reasonOf(failure)} message={failure.message} />
            </span>
          </li>
        ))}
      </ul>
      <More list={list} />
    </section>
  );
}

/** Returns the reason of an image's failure; undefined for an unknown code. */
function reasonOf(failure: Failure): string | undefined {
  return text.images.reasons[failure.code] ?? failureReason(failure);
}

/** Returns the address of the image: the item, the column that failed, or the only value of the row. */
function sourceOf({ row, field }: Failure): string {
  if (typeof row !== "object" || row === null) return cellText(row);
  const members = row as Record<string, unknown>;
  const values = Object.values(members);
  if (field !== null && members[field] !== undefined) return cellText(members[field]);
  const address = values.find((value) => typeof value === "string" && /^https?:/i.test(value));
  return cellText(address ?? (values.length === 1 ? values[0] : row));
}
