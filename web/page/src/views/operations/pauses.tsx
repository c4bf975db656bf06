/** The pauses of job types and tenants: those in force, their end, and a new one. */

import type { Pause } from "longshore-client";
import { useRef, useState } from "preact/hooks";
import { api } from "../../api";
import { ErrorNotice } from "../../components/errors";
import { Listing } from "../../components/listing";
import { CardTable, type Column } from "../../components/tables";
import { useWatchedList } from "../../load";
import { useAction } from "../../operations/action";
import { linkTo } from "../../operations/filters";
import { role } from "../../session";
import { moment, text } from "../../text";
import { type PauseDraft, PauseForm } from "./parts/pause-form";
import { ReasonDialog } from "./parts/reason-dialog";

export function PausesPart() {
  const t = text.operations.pauses;
  const heading = useRef<HTMLHeadingElement>(null);
  const list = useWatchedList(
    async (_, signal) => {
      const { pauses } = await api.listPauses({ signal });
      return { items: pauses, nextCursor: null };
    },
    [],
    ({ pauseId }) => pauseId,
  );
  const [toEnd, setToEnd] = useState<Pause | null>(null);
  const { act, error, result } = useAction<string>(list, heading);
  return (
    <>
      <h2 ref={heading} tabIndex={-1}>
        {t.title}
      </h2>
      <p class="quiet">{t.lead}</p>
      <ErrorNotice error={error} />
      <div role="status">{result && <p class="notice good">{result}</p>}</div>
      <Listing list={list} none={t.none}>
        <PauseTable pauses={list.items ?? []} onEnd={setToEnd} />
      </Listing>
      {role.value === "operator" && <PauseForm onPause={(draft) => void act(() => pause(draft))} />}
      {toEnd && (
        <ReasonDialog
          title={t.endTitle(scopeOf(toEnd))}
          yes={t.end}
          onAnswer={(reason) => {
            setToEnd(null);
            if (reason !== null) void act(() => end(toEnd, reason));
          }}
        >
          {t.endBody}
        </ReasonDialog>
      )}
    </>
  );
}

/** Pauses, and returns a sentence about the pause that is in force. */
async function pause({ kind, name, until, reason }: PauseDraft): Promise<string> {
  const made = await api.pause({ [kind]: name, until, reason });
  const t = text.operations.pauses;
  // An earlier pause stays as it is, also with another end.
  return made.isNew === false ? t.pausedBefore(moment(made.until), made.by) : t.paused(moment(made.until));
}

/** Ends a pause, and returns a sentence about it. */
async function end({ pauseId }: Pause, reason: string): Promise<string> {
  await api.endPause(pauseId, reason);
  return text.operations.pauses.ended;
}

/** Names what a pause holds. */
function scopeOf({ type, tenant }: Pause): string {
  const { ofType, ofTenant } = text.operations.pauses;
  return type === null ? ofTenant(tenant ?? "") : ofType(type);
}

function PauseTable({ pauses, onEnd }: { pauses: readonly Pause[]; onEnd: (pause: Pause) => void }) {
  const t = text.operations.pauses;
  const columns: Column[] = [
    { name: t.scope },
    { name: t.since, look: "nowrap" },
    { name: t.until, look: "nowrap" },
    { name: t.by, look: "wrap" },
  ];
  const actions: Column = { name: t.actions, isUnnamed: true };
  return (
    <CardTable
      caption={t.caption}
      columns={role.value === "operator" ? [...columns, actions] : columns}
      rows={pauses.map((pause) => {
        const { pauseId, type, tenant, since, until, by } = pause;
        const filters = type === null ? { tenant: tenant ?? "" } : { type };
        return {
          key: pauseId,
          cells: [
            <a href={linkTo("jobs", { ...filters, order: "oldest" })}>{scopeOf(pause)}</a>,
            moment(since),
            moment(until),
            by,
            <button
              type="button"
              class="plain"
              aria-label={t.endOf(scopeOf(pause))}
              onClick={() => onEnd(pause)}
            >
              {t.end}
            </button>,
          ],
        };
      })}
    />
  );
}
