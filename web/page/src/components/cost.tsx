/** The cost of a job: one line, and on request its parts beside those of the estimate. */

import type { Job } from "longshore-client";
import { costLine, costRows } from "../cost";
import { dollars, text } from "../text";

export function Cost({ job }: { job: Job }) {
  const t = text.cost;
  const estimate = job.costEstimate;
  const line = costLine(job);
  if (line === null) return null;
  const amount = (value: number | undefined) => (
    <td class="amount">{value === undefined ? "" : dollars(value)}</td>
  );
  return (
    <details class="cost">
      <summary>{line}</summary>
      <table>
        <caption class="visually-hidden">{t.caption}</caption>
        <thead>
          <tr>
            <th scope="col">{t.part}</th>
            {estimate && <th scope="col">{t.estimate}</th>}
            {job.cost && <th scope="col">{t.cost}</th>}
          </tr>
        </thead>
        <tbody>
          {costRows(job).map((row) => (
            <tr key={row.name}>
              <th scope="row">{row.name}</th>
              {estimate && amount(row.estimate)}
              {job.cost && amount(row.cost)}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="quiet small">
        {t.about}
        {estimate?.assumedItemBytes && ` ${t.assumed(estimate.items, estimate.assumedItemBytes)}`}
      </p>
    </details>
  );
}
