/**
 * A table whose rows become cards on a narrow screen, each cell beside its column's name. Roles are explicit,
 * because a table with another `display` loses its implicit ones.
 */

import type { ComponentChildren } from "preact";

/** A column: its name, and the look of its cells. */
export interface Column {
  name: string;
  look?: "figure" | "clip" | "nowrap" | "quiet";
  /** True if only screen readers show its name. */
  isUnnamed?: boolean;
}

/** A row; its first cell is its header. */
export interface Row {
  key: string | number;
  cells: ComponentChildren[];
}

interface Props {
  caption: string;
  columns: Column[];
  rows: Row[];
}

export function CardTable({ caption, columns, rows }: Props) {
  return (
    <section class="scroll cards" aria-label={caption} tabIndex={0}>
      <table role="table">
        <caption class="visually-hidden">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ name, look, isUnnamed }) => (
              <th key={name} scope="col" role="columnheader" class={look === "figure" ? look : undefined}>
                {isUnnamed ? <span class="visually-hidden">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map(({ key, cells }) => (
            <tr key={key} role="row">
              {columns.map(({ name, look, isUnnamed }, at) => {
                const Cell = at === 0 ? "th" : "td";
                return (
                  <Cell
                    key={name}
                    role={at === 0 ? "rowheader" : "cell"}
                    scope={at === 0 ? "row" : undefined}
                    class={look}
                    data-label={isUnnamed ? undefined : name}
                  >
                    {cells[at]}
                  </Cell>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
