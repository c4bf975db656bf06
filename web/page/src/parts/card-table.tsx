/**
 * A table whose rows are cards on a narrow screen, each cell beside the name of its column. The roles are written out: a
 * table that is laid out otherwise loses its own.
 */

import type { ComponentChildren } from "preact";

/** A column: its name, and how its cells look. */
export interface Column {
  name: string;
  look?: "figure" | "clip" | "nowrap" | "quiet";
  /** Its name is for screen readers only. */
  isUnnamed?: boolean;
}

/** A row; its first cell names it. */
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
        <caption class="unseen">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ name, look, isUnnamed }) => (
              <th key={name} scope="col" role="columnheader" class={look === "figure" ? look : undefined}>
                {isUnnamed ? <span class="unseen">{name}</span> : name}
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
