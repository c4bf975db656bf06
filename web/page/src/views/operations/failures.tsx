/** The failed items of all tenants by job type and code, and the retry of exactly one group. */

import type { FailureGroup } from "longshore-client";
import { useRef, useState } from "preact/hooks";
import { api, guarded } from "../../api";
import { ChoiceFilter, FilterGroup, TextFilter, useFilters } from "../../components/filters";
import { Listing } from "../../components/listing";
import { CardTable, type Column } from "../../components/tables";
import { useList } from "../../load";
import { useAction } from "../../operations/action";
import { failuresOptions, queryOf } from "../../operations/filters";
import { addUp, type Failures, type GroupRetry, retryGroup } from "../../operations/groups";
import { role } from "../../session";
import { moment, number, text } from "../../text";
import { ReasonDialog } from "./parts/reason-dialog";
import { RetryResult } from "./parts/retry-result";

export function FailuresPart() {
  const t = text.operations;
  const filters = useFilters();
  const heading = useRef<HTMLHeadingElement>(null);
  // Read on request only: a page is up to a hundred reports.
  const list = useList(
    async (cursor, signal) => {
      const options = failuresOptions(filters, Date.now());
      const page = await api.listFailureGroups({ ...options, cursor, signal });
      return { items: [page], nextCursor: page.nextCursor };
    },
    [queryOf(filters).toString()],
  );
  const failures = addUp(list.items ?? []);
  const { act, isBusy, result } = useAction<GroupRetry>(list, heading);
  const [pending, setPending] = useState<PendingRetry | null>(null);
  const answer = (reason: string | null) => {
    setPending(null);
    if (pending && reason !== null) void act(() => retry(pending, reason));
  };
  return (
    <>
      <h2 ref={heading} tabIndex={-1}>
        {t.failures.title}
      </h2>
      <p class="quiet">{t.failures.lead}</p>
      <FilterGroup>
        <TextFilter name="type" label={t.type} any={t.filters.anyType} />
        <TextFilter name="code" label={t.filters.code} any={t.filters.anyCode} />
        <TextFilter name="tenant" label={t.tenant} any={t.filters.anyTenant} maxLength={128} />
        <ChoiceFilter name="age" label={t.filters.accepted} choices={t.filters.ages} />
      </FilterGroup>
      <RetryResult result={result} isBusy={isBusy} />
      <Listing list={list} isEmpty={failures.groups.length === 0} none={t.failures.none}>
        <GroupTable
          groups={failures.groups}
          isBusy={isBusy}
          onRetry={(group) => setPending({ group, asOf: failures.asOf })}
        />
        <Coverage failures={failures} />
      </Listing>
      {pending && <ConfirmRetry group={pending.group} onAnswer={answer} />}
    </>
  );
}

/** A group as it was when its dialog opened: the list can be read again below it. */
interface PendingRetry {
  group: FailureGroup;
  asOf: string | undefined;
}

/** Retries a group. Each call is guarded by itself: a renewed token repeats none of the calls before it. */
function retry({ group, asOf }: PendingRetry, reason: string): Promise<GroupRetry> {
  return retryGroup(group, asOf, reason, (request) => guarded(() => api.retryFailures(request)));
}

interface ConfirmRetryProps {
  group: FailureGroup;
  onAnswer: (reason: string | null) => void;
}

function ConfirmRetry({ group: { type, code, items, jobs }, onAnswer }: ConfirmRetryProps) {
  const t = text.operations.failures;
  return (
    <ReasonDialog title={t.confirmTitle(items, jobs)} yes={t.confirm} onAnswer={onAnswer}>
      {t.confirmBody(code, type)}
    </ReasonDialog>
  );
}

/** What the groups were read from, and what they leave out. */
function Coverage({ failures: { jobsRead, uncounted, leftOut } }: { failures: Failures }) {
  const t = text.operations.failures;
  const sentences = [
    t.read(jobsRead),
    uncounted > 0 && t.uncounted(uncounted),
    leftOut > 0 && t.leftOut(leftOut),
  ];
  return <p class="small quiet">{sentences.filter(Boolean).join(" ")}</p>;
}

interface GroupTableProps {
  groups: readonly FailureGroup[];
  isBusy: boolean;
  onRetry: (group: FailureGroup) => void;
}

function GroupTable({ groups, isBusy, onRetry }: GroupTableProps) {
  const t = text.operations;
  const columns: Column[] = [
    { name: t.failures.code },
    { name: t.type, look: "wrap" },
    { name: t.failures.items, look: "figure" },
    { name: t.failures.jobs, look: "figure" },
    { name: t.failures.seen, look: "nowrap" },
  ];
  const actions: Column = { name: t.failures.actions, isUnnamed: true };
  return (
    <CardTable
      caption={t.failures.caption}
      columns={role.value === "operator" ? [...columns, actions] : columns}
      rows={groups.map((group) => ({
        key: JSON.stringify([group.type, group.code]),
        cells: [
          <code>{group.code}</code>,
          group.type,
          number(group.items),
          number(group.jobs),
          <>
            {moment(group.lastSeen)}
            <small class="quiet line">{t.failures.first(moment(group.firstSeen))}</small>
          </>,
          <button
            type="button"
            class="plain"
            disabled={isBusy}
            aria-label={t.failures.retryOf(group.code, group.type)}
            onClick={() => onRetry(group)}
          >
            {t.failures.retry}
          </button>,
        ],
      }))}
    />
  );
}
