/** The operators' log: who did what, when and why, and what came of it. */

import type { OperatorLogEntry } from "longshore-client";
import { api } from "../../api";
import { Listing } from "../../components/listing";
import { CardTable } from "../../components/tables";
import { useWatchedList } from "../../load";
import { moment, text } from "../../text";

export function LogPart() {
  const t = text.operations.log;
  const list = useWatchedList(
    async (cursor, signal) => {
      const { entries, nextCursor } = await api.listOperatorLog({ cursor, signal });
      return { items: entries, nextCursor };
    },
    [],
    ({ entryId }) => entryId,
  );
  return (
    <>
      <h2>{t.title}</h2>
      <Listing list={list} none={t.none}>
        <LogTable entries={list.items ?? []} />
      </Listing>
    </>
  );
}

function LogTable({ entries }: { entries: readonly OperatorLogEntry[] }) {
  const t = text.operations.log;
  return (
    <CardTable
      caption={t.caption}
      columns={[
        { name: t.at },
        { name: t.operator, look: "wrap" },
        { name: t.action, look: "wrap" },
        { name: t.reason, look: "wrap" },
        { name: t.result, look: "wrap" },
      ]}
      rows={entries.map((entry) => ({
        key: entry.entryId,
        cells: [
          moment(entry.at),
          <Who entry={entry} />,
          <Action entry={entry} />,
          entry.reason ?? t.noReason,
          entry.result?.detail ?? t.noResult,
        ],
      }))}
    />
  );
}

/** The operator: the name, which its bearer may have chosen, and the id. */
function Who({ entry: { operator, operatorName } }: { entry: OperatorLogEntry }) {
  if (operatorName === null) return <code>{operator}</code>;
  return (
    <>
      {operatorName}
      <small class="quiet line">
        <code>{operator}</code>
      </small>
    </>
  );
}

/** The action, and what it concerned. */
function Action({ entry: { action, scope } }: { entry: OperatorLogEntry }) {
  const t = text.operations.log;
  const { letterId, jobType, code, tenant, jobIds = [] } = scope;
  const named = [jobType, code, tenant, letterId].filter(Boolean).join(", ");
  const [jobId] = jobIds;
  return (
    <>
      {t.actions[action] ?? action}
      {named && <small class="quiet line">{named}</small>}
      {jobId && <small class="quiet line">{jobIds.length === 1 ? jobId : <Jobs jobIds={jobIds} />}</small>}
    </>
  );
}

/** Several jobs, whose ids are shown on request. */
function Jobs({ jobIds }: { jobIds: readonly string[] }) {
  return (
    <details>
      <summary>{text.operations.log.jobs(jobIds.length)}</summary>
      <ul>
        {jobIds.map((jobId) => (
          <li key={jobId}>{jobId}</li>
        ))}
      </ul>
    </details>
  );
}
