/** The open dead letters of all tenants, with their replay and discard. */

import { useRef, useState } from "preact/hooks";
import { api } from "../../api";
import { ErrorNotice } from "../../components/errors";
import { ChoiceFilter, FilterGroup, TextFilter, useFilters } from "../../components/filters";
import { Listing } from "../../components/listing";
import { useWatchedList } from "../../load";
import { useAction } from "../../operations/action";
import { deadLettersOptions, queryOf } from "../../operations/filters";
import { role } from "../../session";
import { text } from "../../text";
import { type Action, ActionDialog, DeadLetterTable } from "./parts/dead-letter-table";

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
  const { act, isBusy, error, result } = useAction<string>(list, heading);
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
      <div role="status">{result && <p class="notice good">{result}</p>}</div>
      <Listing list={list} none={t.deadLetters.none}>
        <DeadLetterTable deadLetters={deadLetters} isBusy={isBusy} onAction={setAsked} />
        {jobId && role.value === "operator" && (
          <div class="actions">
            <button type="button" disabled={isBusy} onClick={() => setAsked({ kind: "replay-all", jobId })}>
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
            if (reason !== null) void act(() => perform(asked, reason));
          }}
        />
      )}
    </>
  );
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
