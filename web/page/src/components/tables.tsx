/**
 * Tables: one in its own scroll box, and one whose rows become cards on a narrow screen; and the end of a list
 * that has more pages.
 */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { List } from "../load";
import { text } from "../text";

interface TableProps {
  caption: string;
  head: ComponentChildren;
  children: ComponentChildren;
}

/** A table in its own scroll box. If columns are cut off, a hint above explains that the box scrolls. */
export function Table({ caption, head, children }: TableProps) {
  const box = useRef<HTMLElement>(null);
  const hint = useId();
  const isCut = useIsCut(box);
  return (
    <div class="scroll-frame">
      {isCut && (
        <p id={hint} class="scroll-hint quiet small">
          {text.table.scrolls}
        </p>
      )}
      <section
        ref={box}
        class="scroll"
        aria-label={caption}
        aria-describedby={isCut ? hint : undefined}
        tabIndex={0}
      >
        <table>
          <caption class="visually-hidden">{caption}</caption>
          <thead>
            <tr>{head}</tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </section>
    </div>
  );
}

/** Returns true while the table is wider than its box. */
function useIsCut(box: { readonly current: HTMLElement | null }): boolean {
  const [isCut, setIsCut] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setIsCut(element.scrollWidth > element.clientWidth);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, []);
  return isCut;
}

/** A column: its name, and the look of its cells. */
export interface Column {
  name: string;
  look?: "figure" | "clip" | "nowrap" | "quiet" | "wrap";
  /** True if only screen readers show its name. */
  isUnnamed?: boolean;
}

/** A row; its first cell is its header. */
export interface Row {
  key: string | number;
  cells: ComponentChildren[];
}

interface CardTableProps {
  caption: string;
  columns: Column[];
  rows: Row[];
}

/**
 * A table whose rows become cards on a narrow screen, each cell beside its column's name. Roles are explicit,
 * because a table with another `display` loses its implicit ones.
 */
export function CardTable({ caption, columns, rows }: CardTableProps) {
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

/** The end of a list: a button for more, or a loading message. */
export function More<T>({ list }: { list: List<T> }) {
  if (list.loading) return <p class="quiet">{text.loading}</p>;
  if (!list.hasMore) return null;
  return (
    <p class="center">
      <button type="button" onClick={list.more}>
        {text.more}
      </button>
    </p>
  );
}
