/** The columns of the file: those of the schema's fields, and the others, which can be left out. */

import { useState } from "preact/hooks";
import type { ImportPlan } from "../plan";
import { text } from "../text";
import { MappingTable } from "./mapping-table";

export function ColumnsSection({ plan, isMapped }: { plan: ImportPlan; isMapped: boolean }) {
  const t = text.mapping;
  const { schema } = plan.chosen.value;
  if (plan.table.value.columns.length === 0) return null;
  return (
    <section aria-labelledby="mapping-title">
      <h2 id="mapping-title">{t.title}</h2>
      {schema && isMapped && <MappingTable plan={plan} schema={schema} />}
      <OtherColumns plan={plan} />
    </section>
  );
}

/** The columns without a field. The key column cannot be left out. */
function OtherColumns({ plan }: { plan: ImportPlan }) {
  const t = text.mapping;
  const [isOpen, setIsOpen] = useState(false);
  const { columns } = plan.table.value;
  const mapped = new Set(plan.mapping.value.values());
  const others = columns.filter((column) => !mapped.has(column));
  if (others.length === 0) return null;
  const leftOut = new Set(columns.filter((_, at) => plan.properties.value[at] === null));
  const imported = others.filter((column) => !leftOut.has(column));
  return (
    <>
      {mapped.size > 0 && imported.length > 0 && <p class="quiet small">{t.others(imported)}</p>}
      {leftOut.size > 0 && <p class="quiet small">{t.leftOut([...leftOut])}</p>}
      <details open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>{t.chooseOthers}</summary>
        {isOpen && (
          <fieldset class="other-columns">
            <legend class="visually-hidden">{t.otherColumns}</legend>
            {others.map((column) => (
              <label class="choice" key={column}>
                <input
                  type="checkbox"
                  checked={!leftOut.has(column)}
                  disabled={column === plan.keyColumn.value}
                  onChange={(event) => plan.leaveOut(column, !event.currentTarget.checked)}
                />
                <span>{column}</span>
              </label>
            ))}
          </fieldset>
        )}
      </details>
    </>
  );
}
