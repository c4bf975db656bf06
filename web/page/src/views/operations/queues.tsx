/** The queues of the stack, with the age of the oldest message. */

import type { OperatorQueue } from "longshore-client";
import { api } from "../../api";
import { Listing } from "../../components/listing";
import { CardTable } from "../../components/tables";
import { useWatchedList } from "../../load";
import { number, text } from "../../text";

export function QueuesPart() {
  const t = text.operations.queues;
  // CloudWatch has a value a minute.
  const list = useWatchedList(
    async (_, signal) => {
      const { queues } = await api.listQueues({ signal });
      return { items: queues, nextCursor: null };
    },
    [],
    ({ queue }) => queue,
  );
  return (
    <>
      <h2>{t.title}</h2>
      <p class="quiet">{t.lead}</p>
      <Listing list={list} none={t.none}>
        <QueueTable queues={list.items ?? []} />
      </Listing>
    </>
  );
}

function QueueTable({ queues }: { queues: readonly OperatorQueue[] }) {
  const t = text.operations.queues;
  return (
    <CardTable
      caption={t.caption}
      columns={[
        { name: t.queue },
        { name: t.visible, look: "figure" },
        { name: t.inFlight, look: "figure" },
        { name: t.delayed, look: "figure" },
        { name: t.oldest },
      ]}
      rows={queues.map(({ queue, isForDeadLetters, visible, inFlight, delayed, oldestSeconds }) => ({
        key: queue,
        cells: [
          <>
            {t.names[queue] ?? queue}
            {isForDeadLetters && visible > 0 && (
              <>
                {" "}
                <span class="badge failed">{t.deadLetters}</span>
              </>
            )}
          </>,
          number(visible),
          number(inFlight),
          number(delayed),
          oldestSeconds === null ? text.operations.unknown : t.age(oldestSeconds),
        ],
      }))}
    />
  );
}
