/** The outputs of the items that succeeded, page by page. */

import type { Job } from "longshore-client";
import { api } from "../api";
import { cellText } from "../file/table";
import { useList } from "../load";
import { resultColumns, resultRow } from "../results";
import { number, text } from "../text";
import { ErrorNotice } from "./errors";
import { More, Table } from "./tables";

/** Rows of a page. */
const PAGE = 25;
/** Most characters of a cell; the file has all. */
const SHOWN = 300;

export function Results({ job }: { job: Job }) {
  const t = text.results;
  const list = useList(
    async (cursor, signal) => {
      const { results, nextCursor } = await api.results(job.jobId, { limit: PAGE, cursor, signal });
      return { items: results.map(resultRow), nextCursor };
    },
    [job.jobId, job.attempts],
  );
  const rows = list.items ?? [];
  const columns = resultColumns(rows);
  return (
    <section aria-labelledby="results-title">
      <h2 id="results-title">{t.title}</h2>
      <ErrorNotice error={list.error} retry={list.reload} />
      {rows.length > 0 && (
        <Table
          caption={t.caption}
          head={
            <>
              <th scope="col" class="figure">
                {t.row}
              </th>
              {columns.map((column) => (
                <th scope="col" key={column}>
                  {column || t.output}
                </th>
              ))}
            </>
          }
        >
          {rows.map(({ item, members }, at) => (
            <tr key={at}>
              <th scope="row" class="figure">
                {number(item ?? at + 1)}
              </th>
              {columns.map((column) => (
                <td key={column}>{shortened(cellText(members[column]))}</td>
              ))}
            </tr>
          ))}
        </Table>
      )}
      <More list={list} />
    </section>
  );
}

function shortened(cell: string): string {
  return cell.length > SHOWN ? `${cell.slice(0, SHOWN)}...` : cell;
}
