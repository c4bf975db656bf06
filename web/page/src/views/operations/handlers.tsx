/** The handlers of registered job types: circuit breakers, permits, parked chunks. */

import type { OperatorHandler } from "longshore-client";
import { api } from "../../api";
import { Listing } from "../../components/listing";
import { CardTable } from "../../components/tables";
import { useWatchedList } from "../../load";
import { linkTo } from "../../operations/filters";
import { moment, text } from "../../text";

/** The look of a registration's status, that of a job's badge. */
const LOOKS = { active: "completed", pending: "running", refused: "failed" };

export function HandlersPart() {
  const t = text.operations.handlers;
  const list = useWatchedList(
    async (cursor, signal) => {
      const { handlers, nextCursor } = await api.listHandlers({ cursor, signal });
      return { items: handlers, nextCursor };
    },
    [],
    ({ name }) => name,
    10_000,
  );
  return (
    <>
      <h2>{t.title}</h2>
      <Listing list={list} none={t.none}>
        <HandlerTable handlers={list.items ?? []} />
      </Listing>
    </>
  );
}

function HandlerTable({ handlers }: { handlers: readonly OperatorHandler[] }) {
  const t = text.operations.handlers;
  const { noRate, perSecond, statuses } = text.types;
  return (
    <CardTable
      caption={t.caption}
      columns={[
        { name: t.handler },
        { name: text.operations.status },
        { name: t.breaker },
        { name: t.permits, look: "figure" },
        { name: t.parked, look: "figure" },
        { name: t.rate, look: "nowrap" },
      ]}
      rows={handlers.map((handler) => ({
        key: handler.name,
        cells: [
          <a href={linkTo("jobs", { type: handler.name, order: "oldest" })}>{handler.name}</a>,
          <span class={`badge ${LOOKS[handler.status]}`}>{statuses[handler.status]}</span>,
          <Breaker handler={handler} />,
          <Permits handler={handler} />,
          t.parkedOf(handler.parkedChunks, handler.hasMoreParkedChunks),
          handler.itemsPerSecond === null ? noRate : perSecond(handler.itemsPerSecond),
        ],
      }))}
    />
  );
}

/** The state of a circuit breaker, since when it is open, and when it is tried. */
function Breaker({ handler: { breaker } }: { handler: OperatorHandler }) {
  const t = text.operations.handlers;
  const { state, openSince, nextTry, unansweredSince } = breaker;
  const lines = [
    openSince && text.operations.since(moment(openSince)),
    nextTry && t.nextTry(moment(nextTry)),
    !openSince && unansweredSince && t.unanswered(moment(unansweredSince)),
  ];
  return (
    <>
      <span class={`state ${state === "closed" ? "" : "bad"}`}>{t.states[state] ?? state}</span>
      {lines.filter(Boolean).map((line) => (
        <small key={line} class="quiet line">
          {line}
        </small>
      ))}
    </>
  );
}

/** The permits in use, and the limit: at present, and as registered. */
function Permits({ handler: { permitsInUse, concurrency, concurrencyNow } }: { handler: OperatorHandler }) {
  const t = text.operations.handlers;
  return (
    <>
      {t.permitsOf(permitsInUse, concurrencyNow)}
      {concurrency !== null && concurrency !== concurrencyNow && (
        <small class="quiet line">{t.lowered(concurrency)}</small>
      )}
    </>
  );
}
