/** The table of dead letters, and the dialog before an action with one of them. */

import type { DeadLetter } from "longshore-client";
import { CardTable, type Column } from "../../../components/tables";
import { linkTo } from "../../../operations/filters";
import { role } from "../../../session";
import { moment, text } from "../../../text";
import { ReasonDialog } from "./reason-dialog";

/** An action of an operator. */
export type Action =
  | { kind: "replay" | "discard"; deadLetter: DeadLetter }
  | { kind: "replay-all"; jobId: string };

interface DeadLetterTableProps {
  deadLetters: readonly DeadLetter[];
  isBusy: boolean;
  onAction: (action: Action) => void;
}

export function DeadLetterTable({ deadLetters, isBusy, onAction }: DeadLetterTableProps) {
  const t = text.operations.deadLetters;
  const columns: Column[] = [
    { name: t.message },
    { name: text.operations.tenant, look: "wrap" },
    { name: t.reason, look: "wrap" },
    { name: t.at, look: "nowrap" },
  ];
  const actions: Column = { name: t.actions, isUnnamed: true };
  return (
    <CardTable
      caption={t.caption}
      columns={role.value === "operator" ? [...columns, actions] : columns}
      rows={deadLetters.map((deadLetter) => ({
        key: deadLetter.letterId,
        cells: [
          <Message deadLetter={deadLetter} />,
          deadLetter.tenant ?? text.operations.unknown,
          deadLetter.reason,
          <>
            {moment(deadLetter.seenAt)}
            <small class="quiet line">{t.received(deadLetter.receives)}</small>
          </>,
          <Actions
            deadLetter={deadLetter}
            isBusy={isBusy}
            onAction={(kind) => onAction({ kind, deadLetter })}
          />,
        ],
      }))}
    />
  );
}

/** The kind of a message, its items, and its job. */
function Message({ deadLetter: { kind, jobId, firstItem, itemCount } }: { deadLetter: DeadLetter }) {
  const t = text.operations.deadLetters;
  return (
    <>
      {t.kinds[kind] ?? kind}
      {firstItem !== null && itemCount !== null && (
        <small class="quiet line">{t.items(firstItem, firstItem + itemCount - 1)}</small>
      )}
      {jobId && (
        <small class="line">
          <a href={linkTo("dead-letters", { jobId })}>{t.job(jobId)}</a>
        </small>
      )}
    </>
  );
}

interface ActionsProps {
  deadLetter: DeadLetter;
  isBusy: boolean;
  onAction: (kind: "replay" | "discard") => void;
}

function Actions({ deadLetter, isBusy, onAction }: ActionsProps) {
  const t = text.operations.deadLetters;
  const name = `${t.kinds[deadLetter.kind] ?? deadLetter.kind}, ${moment(deadLetter.seenAt)}`;
  return (
    <>
      {deadLetter.links.replay && (
        <button
          type="button"
          class="plain"
          disabled={isBusy}
          aria-label={t.replayOf(name)}
          onClick={() => onAction("replay")}
        >
          {t.replay}
        </button>
      )}
      {deadLetter.replay === "later" && <small class="quiet line">{t.later}</small>}
      <button
        type="button"
        class="plain"
        disabled={isBusy}
        aria-label={t.discardOf(name)}
        onClick={() => onAction("discard")}
      >
        {t.discard}
      </button>
    </>
  );
}

/** Asks for the reason of an action, and says what it does. */
export function ActionDialog({
  action,
  onAnswer,
}: {
  action: Action;
  onAnswer: (reason: string | null) => void;
}) {
  const t = text.operations.deadLetters;
  switch (action.kind) {
    case "replay":
      return (
        <ReasonDialog title={t.replayTitle} yes={t.replay} onAnswer={onAnswer}>
          {t.replayBody[action.deadLetter.replay]}
        </ReasonDialog>
      );
    case "discard":
      return (
        <ReasonDialog title={t.discardTitle} yes={t.discard} isDanger onAnswer={onAnswer}>
          {t.discardBody}
        </ReasonDialog>
      );
    case "replay-all":
      return (
        <ReasonDialog title={t.replayAllTitle} yes={t.replayAll} onAnswer={onAnswer}>
          {t.replayAllBody}
        </ReasonDialog>
      );
  }
}
