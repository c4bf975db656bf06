/** The records of a dataset. */

import { useState } from "preact/hooks";
import { api } from "../api";
import { ErrorNotice } from "../components/errors";
import { ExportForm } from "../components/export-form";
import { More, Table } from "../components/tables";
import { cellText } from "../file/table";
import { useList } from "../load";
import { moment, text } from "../text";

export function RecordsView({ dataset }: { dataset: string }) {
  const list = useList(
    async (cursor, signal) => {
      const { records, nextCursor } = await api.listRecords(dataset, { limit: 100, cursor, signal });
      return { items: records, nextCursor };
    },
    [dataset],
  );
  const [isExporting, setIsExporting] = useState(false);
  const records = list.items ?? [];
  const columns = [...new Set(records.flatMap(({ record }) => Object.keys(record)))];
  const { back, none, caption, key, updated } = text.records;
  return (
    <>
      <p class="small">
        <a href="/datasets">{back}</a>
      </p>
      <div class="heading">
        <h1>{dataset}</h1>
        {records.length > 0 && (
          <button type="button" aria-expanded={isExporting} onClick={() => setIsExporting(!isExporting)}>
            {text.exports.open}
          </button>
        )}
      </div>
      {isExporting && records.length > 0 && <ExportForm dataset={dataset} columns={columns} />}
      <ErrorNotice error={list.error} retry={list.reload} />
      {list.items?.length === 0 && <p class="card quiet">{none}</p>}
      {records.length > 0 && (
        <Table
          caption={caption(dataset)}
          head={
            <>
              <th scope="col">{key}</th>
              {columns.map((column) => (
                <th scope="col" key={column}>
                  {column}
                </th>
              ))}
              <th scope="col">{updated}</th>
            </>
          }
        >
          {records.map(({ key, record, updatedAt }) => (
            <tr key={key}>
              <th scope="row">{key}</th>
              {columns.map((column) => (
                <td key={column}>{cellText((record as Record<string, unknown>)[column])}</td>
              ))}
              <td class="nowrap">{moment(updatedAt)}</td>
            </tr>
          ))}
        </Table>
      )}
      <More list={list} />
    </>
  );
}
