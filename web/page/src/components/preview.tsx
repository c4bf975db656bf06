/** The first rows of the file with its own header, and the columns' names in the import. */

import type { Sheet } from "../file/sheet";
import { text } from "../text";
import { Table } from "./tables";

/** Rows to show. */
const SHOWN = 5;

export function Preview({ sheet, names }: { sheet: Sheet; names: string[] }) {
  if (sheet.rows.length === 0) return null;
  return (
    <section aria-labelledby="preview-title">
      <h2 id="preview-title">{text.preview.title}</h2>
      <Table
        caption={text.preview.caption}
        head={
          <>
            <th scope="col" class="figure">
              {text.preview.row}
            </th>
            {sheet.columns.map((column, at) => (
              <th scope="col" key={column}>
                {column}
                {names[at] !== column && (
                  <small class="becomes">{text.preview.becomes(names[at] ?? "")}</small>
                )}
              </th>
            ))}
          </>
        }
      >
        {sheet.rows.slice(0, SHOWN).map((row, at) => (
          <tr key={at}>
            <td class="figure quiet">{at + 1}</td>
            {sheet.columns.map((column) => (
              <td key={column} class="clip">
                {cellText(row[column])}
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </section>
  );
}

/** Formats a value for a cell. */
export function cellText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
