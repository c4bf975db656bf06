/** The items of a run: a file, a text, or a dataset. */

import type { ItemsFrom, Run } from "../run/run";
import { text } from "../text";
import { DatasetField } from "./items-dataset";
import { FileField } from "./items-file";
import { TextField } from "./items-text";
import { SchemaText } from "./options-card";

const FROMS: ItemsFrom[] = ["file", "text"];

export function ItemsCard({ run }: { run: Run }) {
  const t = text.run;
  const { input, itemSchema } = run.type;
  return (
    <section class="card" aria-labelledby="items-title">
      <h2 id="items-title">{t.items}</h2>
      {input === "dataset" ? <DatasetField run={run} /> : <FileOrText run={run} />}
      {itemSchema && <SchemaText title={t.itemSchema} schema={itemSchema} />}
    </section>
  );
}

function FileOrText({ run }: { run: Run }) {
  const t = text.run;
  return (
    <>
      <fieldset class="from">
        <legend>{t.from}</legend>
        {FROMS.map((from) => (
          <label class="choice" key={from}>
            <input
              type="radio"
              name="from"
              checked={run.from.value === from}
              onChange={() => {
                run.from.value = from;
              }}
            />
            <span>
              {t.froms[from][0]}
              <small>{t.froms[from][1]}</small>
            </span>
          </label>
        ))}
      </fieldset>
      {run.from.value === "file" ? <FileField run={run} /> : <TextField run={run} />}
    </>
  );
}
