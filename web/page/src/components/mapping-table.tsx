/** The column mapping: a guess that the user can edit. */

import { type Mapping, renamed } from "../file/mapping";
import type { Schema } from "../file/schema";
import type { Sheet } from "../file/sheet";
import { text } from "../text";
import { cellText } from "./preview";
import { Table } from "./tables";

interface Props {
  schema: Schema;
  sheet: Sheet;
  mapping: Mapping;
  onChange: (mapping: Mapping) => void;
}

export function MappingTable({ schema, sheet, mapping, onChange }: Props) {
  const t = text.mapping;
  const choose = (field: string, column: string) => {
    // A column maps to at most one field, so it is removed from any other.
    const others = [...mapping].filter(([name, taken]) => name !== field && taken !== column);
    onChange(new Map(column ? [...others, [field, column]] : others));
  };
  const fields = new Set(schema.fields.map(({ name }) => name));
  const unmapped = renamed(sheet.columns, mapping).filter((name) => !fields.has(name));
  return (
    <section aria-labelledby="mapping-title">
      <h2 id="mapping-title">{t.title}</h2>
      <Table
        caption={t.caption}
        head={
          <>
            <th scope="col">{t.field}</th>
            <th scope="col">{t.column}</th>
            <th scope="col">{t.example}</th>
          </>
        }
      >
        {schema.fields.map((field) => {
          const column = mapping.get(field.name) ?? "";
          return (
            <tr key={field.name}>
              <th scope="row">
                {field.name}
                {field.required && <small class="quiet"> {t.required}</small>}
              </th>
              <td>
                <select
                  aria-label={t.columnOf(field.name)}
                  value={column}
                  class={field.required && !column ? "wrong" : ""}
                  onChange={(event) => choose(field.name, event.currentTarget.value)}
                >
                  <option value="">{t.none}</option>
                  {sheet.columns.map((name) => (
                    <option key={name} value={name}>
                      {name}
                    </option>
                  ))}
                </select>
              </td>
              <td class="clip quiet">{cellText(sheet.rows[0]?.[column])}</td>
            </tr>
          );
        })}
      </Table>
      {unmapped.length > 0 && <p class="quiet small">{t.others(unmapped)}</p>}
    </section>
  );
}
