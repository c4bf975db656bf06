/** The open dead letters of all tenants, with their replay and discard. */

import { useRef, useState } from "preact/hooks";
import { api, guarded } from "../../api";
import { type Action, ActionDialog, DeadLetterTable } from "../../components/dead-letter-table";
import { ErrorNotice } from "../../components/errors";
import { ChoiceFilter, FilterGroup, TextFilter, useFilters } from "../../components/filters";
import { Listing } from "../../components/listing";
import { useWatchedList } from "../../load";
import { deadLettersOptions, queryOf } from "../../operations/filters";
import { role } from "../../session";
import { text } from "../../text";

export function DeadLettersPart() {
  const t = text.operations;
  const filters = useFilters();
  const list = useWatchedList(
    async (cursor, signal) => {
      const options = deadLettersOptions(filters);
      const { deadLetters, nextCursor } = await api.listDeadLetters({ ...options, cursor, signal });
      return { items: deadLetters, nextCursor };
    },
    [queryOf(filters).toString()],
    ({ letterId }) => letterId,
  );
  const heading = useRef<HTMLHeadingElement>(null);
  const { act, error, done, busy } = useActions(() => {
    list.refresh();
    // The focused button may disappear with its row.
    heading.current?.focus();
  });
  const [asked, setAsked] = useState<Action | null>(null);
  const deadLetters = list.items ?? [];
  const { jobId } = filters;
  return (
    <>
      <h2 ref={heading} tabIndex={-1}>
        {t.deadLetters.title}
      </h2>
      <p class="quiet">{t.deadLetters.lead}</p>
      <FilterGroup>
        <ChoiceFilter name="queue" label={t.filters.queue} choices={t.deadLetters.queues} />
        <TextFilter name="jobId" label={t.filters.jobId} any={t.filters.anyJob} maxLength={36} />
      </FilterGroup>
      <ErrorNotice error={error} />
      <div role="status">{done && <p class="notice good">{done}</p>}</div>
      <Listing list={list} none={t.deadLetters.none}>
        <DeadLetterTable deadLetters={deadLetters} isBusy={busy} onAction={setAsked} />
        {jobId && role.value === "operator" && (
          <div class="actions">
            <button type="button" disabled={busy} onClick={() => setAsked({ kind: "replay-all", jobId })}>
              {t.deadLetters.replayAll}
            </button>
          </div>
        )}
      </Listing>
      {asked && (
        <ActionDialog
          action={asked}
          onAnswer={(reason) => {
            setAsked(null);
            if (reason !== null) void act(asked, reason);
          }}
        />
      )}
    </>
  );
}

/** Performs an action, and calls `onEnd` after it, whatever came of it. */
function useActions(onEnd: () => void) {
  const [error, setError] = useState<unknown>(null);
  const [done, setDone] = useState("");
  const [busy, setBusy] = useState(false);
  const act = async (action: Action, reason: string) => {
    setBusy(true);
    setError(null);
    setDone("");
    try {
      setDone(await guarded(() => perform(action, reason)));
    } catch (error) {
      setError(error);
    }
    setBusy(false);
    onEnd();
  };
  return { act, error, done, busy };
}

/** Performs an action, and returns a sentence about its effect. */
async function perform(action: Action, reason: string): Promise<string> {
  const t = text.operations.deadLetters;
  if (action.kind === "replay-all") {
    const { replayed, left } = await api.replayDeadLettersOfJob(action.jobId, { reason });
    return t.replayedAll(replayed.length, left.length);
  }
  const { letterId } = action.deadLetter;
  if (action.kind === "replay") {
    await api.replayDeadLetter(letterId, { reason });
    return t.replayed;
  }
  await api.discardDeadLetter(letterId, { reason });
  return t.discarded;
}
