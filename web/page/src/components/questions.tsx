/** Questions about how cells are meant: columns that can be read in two ways, the century, and the time zone. */

import { useId, useState } from "preact/hooks";
import type { ColumnQuestion, Notation } from "../file/questions";
import type { ImportPlan } from "../plan";
import { dayOf, text } from "../text";
import { ownTimeZone, timeZones } from "../time-zones";

/** Limits of the first year of two-digit years. */
const MIN_YEAR = 1000;
const MAX_YEAR = 9900;

export function Questions({ plan }: { plan: ImportPlan }) {
  if (!plan.asks.value) return null;
  return (
    <section class="card questions" aria-labelledby="questions-title">
      <h2 id="questions-title">{text.questions.title}</h2>
      {plan.asksPivotYear.value && <PivotYear plan={plan} />}
      {plan.asksTimeZone.value && <TimeZone plan={plan} />}
      {plan.questions.value.map((question) => (
        <ColumnField
          key={question.column}
          question={question}
          answer={plan.answers.value.get(question.column)}
          onAnswer={(notation) => plan.answer(question.column, notation)}
        />
      ))}
    </section>
  );
}

interface ColumnFieldProps {
  question: ColumnQuestion;
  answer: Notation | undefined;
  onAnswer: (notation: Notation) => void;
}

function ColumnField({ question, answer, onAnswer }: ColumnFieldProps) {
  const t = text.questions;
  const name = useId();
  const { column, cell, readings } = question;
  return (
    <fieldset>
      <legend>{cell === null ? t.column(column) : t.cell(cell, column)}</legend>
      {readings.map(({ notation, value }) => (
        <label class="choice" key={notation}>
          <input type="radio" name={name} checked={answer === notation} onChange={() => onAnswer(notation)} />
          {value === null ? (
            <span>{t.notations[notation]}</span>
          ) : (
            <span>
              {question.kind === "date" ? dayOf(value, !question.isYearShort) : value}
              <small>{t.because[notation]}</small>
            </span>
          )}
        </label>
      ))}
    </fieldset>
  );
}

/** The century of two-digit years. */
function PivotYear({ plan }: { plan: ImportPlan }) {
  const t = text.questions;
  const [entry, setEntry] = useState(String(plan.pivotYear.value ?? ""));
  return (
    <div class="fields">
      <label>
        <span>{t.pivotYear}</span>
        <input
          type="number"
          min={MIN_YEAR}
          max={MAX_YEAR}
          value={entry}
          aria-describedby="pivot-year-hint"
          onInput={(event) => {
            setEntry(event.currentTarget.value);
            const year = Number(event.currentTarget.value);
            const isYear = Number.isInteger(year) && year >= MIN_YEAR && year <= MAX_YEAR;
            if (isYear) plan.pivotYear.value = year;
          }}
        />
        <small id="pivot-year-hint">{t.pivotYearHint}</small>
      </label>
    </div>
  );
}

/** The zone of times that name none. Nothing is chosen until the user does. */
function TimeZone({ plan }: { plan: ImportPlan }) {
  const t = text.questions;
  const chosen = plan.timeZone.value;
  const own = ownTimeZone();
  return (
    <div class="fields">
      <label>
        <span>{t.timeZone}</span>
        <select
          value={chosen ?? ""}
          required
          aria-describedby="time-zone-hint"
          onChange={(event) => {
            plan.timeZone.value = event.currentTarget.value;
          }}
        >
          {chosen === null && <option value="">{t.timeZoneNone}</option>}
          {timeZones().map((zone) => (
            <option key={zone} value={zone}>
              {zone === own ? t.timeZoneOwn(zone) : zone}
            </option>
          ))}
        </select>
        <small id="time-zone-hint">{t.timeZoneHint}</small>
      </label>
    </div>
  );
}
