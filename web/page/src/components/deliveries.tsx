/** The deliveries of a webhook: their attempts, and buttons that send them again. */

import type { Delivery } from "longshore-client";
import { useState } from "preact/hooks";
import { api, guarded } from "../api";
import { useList } from "../load";
import { moment, text } from "../text";
import { Confirm } from "./confirm";
import { ErrorNotice } from "./errors";
import { CardTable, type Column, More } from "./tables";

/** The look of a status, that of a job's badge. */
const LOOKS = { delivered: "completed", pending: "running", failed: "failed" };

/** Milliseconds from now to the first event of a replay, unless the user chooses another time. */
const REPLAY_MS = 86_400_000;

export function Deliveries({ webhookId, isActive }: { webhookId: string; isActive: boolean }) {
  const t = text.webhooks.deliveries;
  const [error, setError] = useState<unknown>(null);
  const [round, setRound] = useState(0);
  const [result, setResult] = useState("");
  const [isConfirming, setIsConfirming] = useState(false);
  const list = useList(
    async (cursor, signal) => {
      const { deliveries, nextCursor } = await api.listDeliveries(webhookId, { limit: 20, cursor, signal });
      return { items: deliveries, nextCursor };
    },
    [webhookId, round],
    { id: ({ deliveryId }) => deliveryId, isLive: ({ status }) => status === "pending" },
  );
  const replay = async (call: () => Promise<unknown>, done: string) => {
    setError(null);
    setResult("");
    try {
      await guarded(call);
      setResult(done);
      setRound((round) => round + 1);
    } catch (error) {
      setError(error);
    }
  };
  const deliveries = list.items ?? [];
  return (
    <section class="card" aria-labelledby="deliveries-title">
      <h2 id="deliveries-title">{t.title}</h2>
      <ErrorNotice error={error ?? list.error} retry={error ? undefined : list.reload} />
      {list.items?.length === 0 && <p class="quiet">{t.none}</p>}
      {deliveries.length > 0 && (
        <DeliveryTable
          deliveries={deliveries}
          isActive={isActive}
          replay={({ deliveryId }) =>
            void replay(() => api.replayDelivery(webhookId, deliveryId), t.replayed)
          }
        />
      )}
      <More list={list} />
      <p role="status">{result}</p>
      {isActive && (
        <div class="actions">
          <button type="button" onClick={() => setIsConfirming(true)}>
            {t.replayAll}
          </button>
        </div>
      )}
      {isConfirming && (
        <ConfirmReplay
          onAnswer={(since) => {
            setIsConfirming(false);
            if (since) void replay(() => api.replayDeliveries(webhookId, since), t.replayedAll);
          }}
        />
      )}
    </section>
  );
}

/** Asks for the time of the first event that is sent again. */
function ConfirmReplay({ onAnswer }: { onAnswer: (since: string | null) => void }) {
  const t = text.webhooks.deliveries;
  const [since, setSince] = useState(() => localTime(new Date(Date.now() - REPLAY_MS)));
  return (
    <Confirm
      title={t.replayTitle}
      no={t.keep}
      yes={t.replayConfirm}
      onAnswer={(yes) => onAnswer(yes && since ? new Date(since).toISOString() : null)}
    >
      <label>
        {t.replayBody}
        <input
          type="datetime-local"
          required
          value={since}
          onInput={(event) => setSince(event.currentTarget.value)}
        />
      </label>
    </Confirm>
  );
}

/** Returns a time as an input of the user's zone has it. */
function localTime(time: Date): string {
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

interface DeliveryTableProps {
  deliveries: readonly Delivery[];
  isActive: boolean;
  replay: (delivery: Delivery) => void;
}

function DeliveryTable({ deliveries, isActive, replay }: DeliveryTableProps) {
  const t = text.webhooks.deliveries;
  const columns: Column[] = [
    { name: t.event, look: "nowrap" },
    { name: t.job, look: "nowrap" },
    { name: t.status },
    { name: t.attempts },
    { name: t.last, look: "wrap" },
    { name: t.created, look: "nowrap" },
    { name: t.actions, isUnnamed: true },
  ];
  return (
    <CardTable
      caption={t.caption}
      columns={columns}
      rows={deliveries.map((delivery) => {
        const { deliveryId, event, status, attempts, nextAttemptAt, createdAt } = delivery;
        const [path, id] = subjectOf(event.data);
        return {
          key: deliveryId,
          cells: [
            event.type,
            <a href={path}>{id.slice(-6)}</a>,
            <span class={`badge ${LOOKS[status]}`}>{t.statuses[status]}</span>,
            <>
              {t.attemptsOf(attempts)}
              {nextAttemptAt && <small class="quiet">{t.next(moment(nextAttemptAt))}</small>}
              {delivery.log.length > 1 && <Log delivery={delivery} />}
            </>,
            lastAnswer(delivery),
            moment(createdAt),
            <button
              type="button"
              class="plain"
              disabled={!isActive}
              aria-label={`${t.replay}: ${event.type}, ${id.slice(-6)}`}
              onClick={() => replay(delivery)}
            >
              {t.replay}
            </button>,
          ],
        };
      })}
    />
  );
}

/** Returns the page and the id of what an event tells about. */
function subjectOf(data: Delivery["event"]["data"]): [string, string] {
  return "jobId" in data
    ? [`/jobs/${data.jobId}`, data.jobId]
    : [`/webhooks/${data.webhookId}`, data.webhookId];
}

/** All attempts of a delivery, oldest first. */
function Log({ delivery: { log } }: { delivery: Delivery }) {
  return (
    <details>
      <summary>{text.webhooks.deliveries.log}</summary>
      <ol class="small">
        {log.map((attempt) => (
          <li key={attempt.at}>
            {moment(attempt.at)}: {answerOf(attempt)}
          </li>
        ))}
      </ol>
    </details>
  );
}

/** Describes the newest attempt. */
function lastAnswer({ log }: Delivery): string {
  const last = log.at(-1);
  return last ? answerOf(last) : text.webhooks.deliveries.noAttempt;
}

/** Describes an attempt: the status of its answer, or the reason why there was none. */
function answerOf({ status, ms, detail }: Delivery["log"][number]): string {
  const t = text.webhooks.deliveries;
  return status == null ? (detail ?? t.noAttempt) : t.answered(status, ms);
}
