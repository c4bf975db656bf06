/** The columns of the file: those of the schema's fields, and the others, which can be left out. */

import { useState } from "preact/hooks";
import type { ImportPlan } from "../plan";
import { text } from "../text";
import { MappingTable } from "./mapping-table";

export function ColumnsSection({ plan }: { plan: ImportPlan }) {
  const t = text.mapping;
  if (plan.table.value.columns.length === 0) return null;
  return (
    <section aria-labelledby="mapping-title">
      <h2 id="mapping-title">{t.title}</h2>
      <div role="status" class="findings">
        <PresetNotice plan={plan} />
      </div>
      {plan.fields.value.length > 0 && <MappingTable plan={plan} />}
      <OtherColumns plan={plan} />
    </section>
  );
}

/** Whether the columns are matched as in the preset, and a button that changes it. */
function PresetNotice({ plan }: { plan: ImportPlan }) {
  const t = text.preset;
  const dataset = plan.presetDataset.value;
  if (dataset === null) return null;
  const isUsed = plan.usesPreset.value;
  const replaced = Object.keys(plan.values.value);
  return (
    <div class="notice">
      <div>
        <p>{isUsed ? t.used(dataset) : t.unused}</p>
        {replaced.length > 0 && <p class="small">{t.replaced(replaced)}</p>}
      </div>
      <button
        type="button"
        onClick={() => {
          plan.usesPreset.value = !isUsed;
        }}
      >
        {isUsed ? t.ignore : t.use}
      </button>
    </div>
  );
}

/** The columns without a field. The key column cannot be left out. */
function OtherColumns({ plan }: { plan: ImportPlan }) {
  const t = text.mapping;
  const [isOpen, setIsOpen] = useState(false);
  const { columns } = plan.table.value;
  const mapping = plan.mapping.value;
  const ofFields = new Set(plan.fields.value.map(({ name }) => mapping.get(name)));
  const others = columns.filter((column) => !ofFields.has(column));
  if (others.length === 0) return null;
  const properties = plan.properties.value;
  const leftOut = new Set(columns.filter((_, at) => properties[at] === null));
  const unchanged = columns.filter((column, at) => properties[at] === column && !ofFields.has(column));
  const hasOtherNames = unchanged.length + leftOut.size < columns.length;
  return (
    <>
      {hasOtherNames && unchanged.length > 0 && <p class="quiet small">{t.others(unchanged)}</p>}
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
