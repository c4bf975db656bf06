/** The results of a job of the type `image` as a grid of thumbnails; a click opens the largest file. */

import type { Job } from "longshore-client";
import { useState } from "preact/hooks";
import { api } from "../api";
import { type Image, imageOf } from "../images";
import { useList } from "../load";
import { text } from "../text";
import { ErrorNotice } from "./errors";
import { ImageDialog } from "./image-dialog";
import { More } from "./tables";
import { Thumbnail } from "./thumbnail";

/** Images of a page. */
const PAGE = 48;

export function ImageGrid({ job }: { job: Job }) {
  const t = text.images;
  const [opened, setOpened] = useState<Image | null>(null);
  const list = useList(
    async (cursor, signal) => {
      const { results, nextCursor } = await api.results(job.jobId, { limit: PAGE, cursor, signal });
      return { items: results.map(imageOf).filter((image) => image !== null), nextCursor };
    },
    [job.jobId, job.attempts],
  );
  const nameOf = ({ item }: Image) => t.of(item, sourceName(job));
  return (
    <section aria-labelledby="images-title">
      <h2 id="images-title">{t.title}</h2>
      <ErrorNotice error={list.error} retry={list.reload} />
      <ul class="thumbnails">
        {list.items?.map((image) => (
          <li key={image.item}>
            <Thumbnail jobId={job.jobId} image={image} name={nameOf(image)} onOpen={() => setOpened(image)} />
          </li>
        ))}
      </ul>
      <More list={list} />
      {opened && (
        <ImageDialog jobId={job.jobId} image={opened} name={nameOf(opened)} onClose={() => setOpened(null)} />
      )}
    </section>
  );
}

/** Returns the name of the file with the items, or null if the job has none. */
function sourceName({ source, fileName }: Job): string | null {
  return source?.kind === "file" ? source.name : fileName;
}
