/** The column mapping: the columns of the schema's fields, as guessed or chosen. */

import type { ImportPlan } from "../plan";
import { text } from "../text";
import { Table } from "./tables";

export function MappingTable({ plan }: { plan: ImportPlan }) {
  const t = text.mapping;
  const { columns, rows } = plan.table.value;
  const mapping = plan.mapping.value;
  return (
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
      {plan.fields.value.map((field) => {
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
                onChange={(event) => plan.map(field.name, event.currentTarget.value)}
              >
                <option value="">{t.none}</option>
                {columns.map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            </td>
            <td class="clip quiet">{rows[0]?.cells[columns.indexOf(column)]}</td>
          </tr>
        );
      })}
    </Table>
  );
}
