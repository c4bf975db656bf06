/** The first rows of the file with its own header, the columns' names in the import, and the rows that would fail. */

import { useState } from "preact/hooks";
import { type Table as FileTable, haveSheetRows, type TableRow } from "../file/table";
import { failureReason, text } from "../text";
import { CodeMessage } from "./errors";
import { Table } from "./tables";

/** Rows that are shown at first, and as many of the failing ones below them. */
const SHOWN = 5;

interface Props {
  table: FileTable;
  /** The properties of the columns; null for those that are left out. */
  properties: readonly (string | null)[];
  /** The names of the workbook's other sheets; empty for other files. */
  otherSheets: readonly string[];
  /** True while the file is read again. */
  isStale: boolean;
}

export function Preview({ table, properties, otherSheets, isStale }: Props) {
  const t = text.preview;
  const { columns, rows } = table;
  const [showsAll, setShowsAll] = useState(false);
  const first = firstRows(rows);
  const shown = showsAll ? rows : first;
  const hasProblems = shown.some(({ problem }) => problem !== null);
  const hasSheet = haveSheetRows(rows);
  if (columns.length === 0 && rows.length === 0) return null;
  return (
    <section aria-labelledby="preview-title" aria-busy={isStale} class={isStale ? "stale" : undefined}>
      <h2 id="preview-title">
        {t.title}
        {isStale && <small class="quiet"> {text.inspection.again}</small>}
      </h2>
      {rows.length === 0 && (
        <p class="quiet">
          {t.none}
          {otherSheets.length > 0 && ` ${t.otherSheets(otherSheets)}`}
        </p>
      )}
      {rows.length > 0 && (
        <Table
          caption={t.caption}
          head={
            <>
              <th scope="col" class="figure">
                {hasSheet ? t.sheetRow : t.row}
              </th>
              {hasProblems && <th scope="col">{t.problem}</th>}
              {columns.map((column, at) => (
                <ColumnName key={column} column={column} property={properties[at] ?? null} />
              ))}
              {columns.length === 0 && <th scope="col">{t.line}</th>}
            </>
          }
        >
          {shown.map((row) => (
            <PreviewRow
              key={row.number}
              row={row}
              columns={columns}
              hasSheet={hasSheet}
              hasProblems={hasProblems}
            />
          ))}
        </Table>
      )}
      {rows.length > first.length && (
        <button type="button" class="plain more-rows" onClick={() => setShowsAll(!showsAll)}>
          {showsAll ? t.fewer : t.all(rows.length)}
        </button>
      )}
    </section>
  );
}

/** Returns the first rows, and the first of the failing ones below them. */
function firstRows(rows: readonly TableRow[]): TableRow[] {
  const failing = rows.slice(SHOWN).filter(({ problem }) => problem !== null);
  return [...rows.slice(0, SHOWN), ...failing.slice(0, SHOWN)];
}

function ColumnName({ column, property }: { column: string; property: string | null }) {
  const t = text.preview;
  return (
    <th scope="col">
      {column}
      {property !== column && (
        <small class="becomes">{property === null ? t.leftOut : t.becomes(property)}</small>
      )}
    </th>
  );
}

interface RowProps {
  row: TableRow;
  columns: readonly string[];
  hasSheet: boolean;
  hasProblems: boolean;
}

function PreviewRow({ row, columns, hasSheet, hasProblems }: RowProps) {
  const { number, sheetRow, cells, line, problem } = row;
  return (
    <tr class={problem ? "failing" : undefined}>
      <td class="figure quiet">{hasSheet ? sheetRow : number}</td>
      {hasProblems && (
        <td class="reason">
          {problem && <CodeMessage words={failureReason(problem)} message={problem.message} />}
        </td>
      )}
      {line === null ? (
        columns.map((column, at) => (
          <td key={column} class={problem?.field === column ? "clip wrong-cell" : "clip"}>
            {cells[at]}
          </td>
        ))
      ) : (
        <td class="clip" colSpan={Math.max(1, columns.length)}>
          {line}
        </td>
      )}
    </tr>
  );
}
