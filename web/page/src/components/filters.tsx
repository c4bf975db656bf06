/** The fields of the operators' filters, whose values are in the address of the page. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Filters, queryOf, readFilters } from "../operations/filters";
import { goToQuery, search } from "../router";
import { moment, text } from "../text";

/** Returns the filters of the address. */
export function useFilters(): Filters {
  return readFilters(search.value);
}

function setFilter(name: keyof Filters, value: string): void {
  goToQuery(queryOf({ ...readFilters(search.value), [name]: value.trim() }));
}

/** A group of filters, with a button that clears them. */
export function FilterGroup({ children }: { children: ComponentChildren }) {
  const t = text.operations.filters;
  const { createdAfter, createdBefore, ...filters } = useFilters();
  const isOneJob = createdAfter !== undefined && createdBefore !== undefined;
  return (
    <section class="card filters" aria-label={t.label}>
      <div class="fields">{children}</div>
      {isOneJob && <p class="small">{t.oneJob(moment(createdAfter))}</p>}
      {(isOneJob || Object.keys(filters).length > 0) && (
        <div class="actions">
          <button type="button" class="plain" onClick={() => goToQuery(new URLSearchParams())}>
            {t.clear}
          </button>
        </div>
      )}
    </section>
  );
}

interface ChoiceFilterProps {
  name: keyof Filters;
  label: string;
  /** Texts by value. The value "" is no filter. */
  choices: Record<string, string>;
}

export function ChoiceFilter({ name, label, choices }: ChoiceFilterProps) {
  return (
    <label>
      <span>{label}</span>
      <select
        value={useFilters()[name] ?? ""}
        onChange={(event) => setFilter(name, event.currentTarget.value)}
      >
        {Object.entries(choices).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface TextFilterProps {
  name: keyof Filters;
  label: string;
  /** The text in an empty field. */
  any: string;
  maxLength?: number;
}

/** A text that is taken over when the field is left, or by Enter. */
export function TextFilter({ name, label, any, maxLength = 100 }: TextFilterProps) {
  const value = useFilters()[name] ?? "";
  // Not lost when a list below is read again.
  const [typed, setTyped] = useState<string>(value);
  useEffect(() => setTyped(value), [value]);
  return (
    <label>
      <span>{label}</span>
      <input
        value={typed}
        placeholder={any}
        maxLength={maxLength}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onChange={(event) => setFilter(name, event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && setFilter(name, event.currentTarget.value)}
      />
    </label>
  );
}
