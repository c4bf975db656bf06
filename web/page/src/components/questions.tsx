/** Questions about how cells are meant: columns that can be read in two ways, the century, and the time zone. */

import { useId, useState } from "preact/hooks";
import { type ColumnQuestion, type Notation, withCentury } from "../file/questions";
import type { ImportPlan } from "../plan";
import { dayOf, text } from "../text";
import { ownTimeZone, timeZones } from "../time-zones";
import { Wrong } from "./option-fields";

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
          pivotYear={plan.pivotYear.value}
          answer={plan.answers.value.get(question.column)}
          onAnswer={(notation) => plan.answer(question.column, notation)}
        />
      ))}
    </section>
  );
}

interface ColumnFieldProps {
  question: ColumnQuestion;
  /** The first year of two-digit years; null while it is not known. */
  pivotYear: number | null;
  answer: Notation | undefined;
  onAnswer: (notation: Notation) => void;
}

function ColumnField({ question, pivotYear, answer, onAnswer }: ColumnFieldProps) {
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
              {question.kind === "date" ? day(question, value, pivotYear) : value}
              <small>{t.because[notation]}</small>
            </span>
          )}
        </label>
      ))}
    </fieldset>
  );
}

/** Returns a reading as a day, without its year while the century is not known. */
function day({ cell, isYearShort }: ColumnQuestion, value: string, pivotYear: number | null): string {
  const isYearKnown = !isYearShort || cell?.includes(value.slice(0, 4));
  if (isYearKnown || pivotYear === null) return dayOf(value, Boolean(isYearKnown));
  return dayOf(withCentury(value, pivotYear), true);
}

/** The century of two-digit years. */
function PivotYear({ plan }: { plan: ImportPlan }) {
  const t = text.questions;
  const [entry, setEntry] = useState(String(plan.pivotYear.value ?? ""));
  const [isLeft, setIsLeft] = useState(false);
  // A year that is being typed is not wrong yet.
  const isWrong = entry !== "" && !isFirstYear(entry) && (isLeft || entry.length > 4);
  return (
    <div class="fields">
      <label>
        <span>{t.pivotYear}</span>
        <input
          type="number"
          min={MIN_YEAR}
          max={MAX_YEAR}
          value={entry}
          aria-invalid={isWrong ? "true" : undefined}
          aria-describedby={isWrong ? "pivot-year-hint pivot-year-wrong" : "pivot-year-hint"}
          onBlur={() => setIsLeft(true)}
          onInput={(event) => {
            const { value } = event.currentTarget;
            setEntry(value);
            if (isFirstYear(value)) plan.pivotYear.value = Number(value);
          }}
        />
        <small id="pivot-year-hint">{t.pivotYearHint}</small>
        <Wrong id="pivot-year-wrong" messages={isWrong ? [t.pivotYearRange(MIN_YEAR, MAX_YEAR)] : []} />
      </label>
    </div>
  );
}

function isFirstYear(entry: string): boolean {
  const year = Number(entry);
  return Number.isInteger(year) && year >= MIN_YEAR && year <= MAX_YEAR;
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
