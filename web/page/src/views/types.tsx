/** The list of registered job types. */

import type { JobType } from "longshore-client";
import { useEffect } from "preact/hooks";
import { api } from "../api";
import { ErrorNotice } from "../components/errors";
import { CardTable, type Column, More } from "../components/tables";
import { TypeStatus } from "../components/type-status";
import { handlerOf, hasJobTypes, isForOperators } from "../job-types";
import { useList } from "../load";
import { text } from "../text";

/** Most characters of a description in the list. */
const SHOWN = 160;

export function TypesView() {
  const t = text.types;
  const list = useList(async (cursor, signal) => {
    const { jobTypes, nextCursor } = await api.listJobTypes({ limit: 50, cursor, signal });
    return { items: jobTypes, nextCursor };
  }, []);
  const types = list.items ?? [];
  useEffect(() => {
    if (list.items) hasJobTypes.value = types.length > 0 || list.hasMore;
  }, [list.items, list.hasMore]);
  return (
    <>
      <h1>{t.title}</h1>
      <p class="quiet lead">{t.lead}</p>
      <ErrorNotice error={list.error} retry={list.reload} />
      {list.items && types.length === 0 && !list.hasMore && <p class="card quiet">{t.none}</p>}
      {types.length > 0 && <TypeTable types={types} />}
      <More list={list} />
    </>
  );
}

function TypeTable({ types }: { types: readonly JobType[] }) {
  const t = text.types;
  const forOperators = types.some(isForOperators);
  const columns: Column[] = [
    { name: t.name, look: "nowrap" },
    { name: t.description, look: "wrap" },
    { name: t.items },
  ];
  const operators: Column[] = [
    { name: t.status },
    { name: t.target, look: "wrap" },
    { name: t.rate, look: "nowrap" },
  ];
  return (
    <CardTable
      caption={t.caption}
      columns={forOperators ? [...columns, ...operators] : columns}
      rows={types.map((type) => ({
        key: type.name,
        cells: [
          <a href={`/types/${encodeURIComponent(type.name)}`}>{type.name}</a>,
          firstLine(type.description) ?? t.noDescription,
          t.inputs[type.input],
          <TypeStatus type={type} />,
          <code>{handlerOf(type)}</code>,
          type.itemsPerSecond == null ? t.noRate : t.perSecond(type.itemsPerSecond),
        ],
      }))}
    />
  );
}

/** Returns the beginning of a description; the view of the type has all. */
function firstLine(description: string | null): string | null {
  const [line] = description?.split("\n") ?? [];
  return line && line.length > SHOWN ? `${line.slice(0, SHOWN)}...` : (line ?? null);
}
