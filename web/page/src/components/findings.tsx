/** What the server says about the file: the error of the import, rows that would fail, and guesses to check. */

import type { Inspection } from "longshore-client";
import type { Draft } from "../draft";
import { problemGroups, type RowProblem, type Table } from "../file/table";
import { failureReason, text } from "../text";
import { CodeMessage, ErrorNotice, withoutColon } from "./errors";

/** Reasons that are listed. */
const LISTED = 5;

export function Findings({ draft }: { draft: Draft }) {
  const { inspector, plan } = draft;
  const answer = inspector.found.value?.answer;
  return (
    <>
      <ErrorNotice error={inspector.error.value} retry={() => draft.inspectAgain()} />
      <div role="status" class="findings">
        {answer?.error && <JobErrorNotice error={answer.error} asks={plan.asks.value} />}
        {answer && !answer.error && <FailingRows table={plan.table.value} />}
        {answer && <Checks draft={draft} answer={answer} />}
      </div>
    </>
  );
}

interface JobErrorProps {
  error: NonNullable<Inspection["error"]>;
  /** True if the page asks how cells are meant. */
  asks: boolean;
}

/** The error with which the import would fail, or that questions must be answered first. */
function JobErrorNotice({ error: { code, message }, asks }: JobErrorProps) {
  const t = text.findings;
  if (asks && t.asked[code])
    return (
      <div class="notice warn">
        <div>
          <strong>{t.answerFirst}</strong>
          <p>{t.asked[code]}</p>
        </div>
      </div>
    );
  return (
    <div class="notice bad">
      <div>
        <strong>{t.error}</strong>
        <p>
          <CodeMessage words={text.jobCodes[code]} message={message} />
        </p>
        {t.solutions[code] && <p>{t.solutions[code]}</p>}
      </div>
    </div>
  );
}

/** The first rows that would fail, by reason. */
function FailingRows({ table: { rows } }: { table: Table }) {
  const t = text.findings;
  const failing = rows.filter(({ problem }) => problem !== null).length;
  if (failing === 0) return null;
  return (
    <div class={failing === rows.length ? "notice bad" : "notice warn"}>
      <div>
        <strong>{t.rows(failing, rows.length)}</strong>
        <ul>
          {problemGroups(rows)
            .slice(0, LISTED)
            .map(({ problem, rows }) => (
              <li key={`${problem.code} ${problem.field}`}>
                {problemReason(problem)} ({t.count(rows)})
              </li>
            ))}
        </ul>
      </div>
    </div>
  );
}

/** Returns the reason of a row's problem: the page's words, or the server's. */
function problemReason(problem: RowProblem): string {
  const words = failureReason(problem);
  return words ? withoutColon(words) : problem.message;
}

/** Guesses of the server, and a key that is not distinct. */
function Checks({ draft: { plan }, answer: { issues } }: { draft: Draft; answer: Inspection }) {
  const t = text.findings;
  const repeated = plan.repeatedKey.value;
  if (issues.length === 0 && repeated === null) return null;
  return (
    <div class="notice warn">
      <div>
        <strong>{t.check}</strong>
        <ul>
          {issues.map(({ code, message }, at) => (
            <li key={at}>
              <CodeMessage words={t.issues[code] ?? text.jobCodes[code]} message={message} />
            </li>
          ))}
          {repeated !== null && <li>{t.repeatedKey(plan.keyProperty.value, repeated)}</li>}
        </ul>
      </div>
    </div>
  );
}
