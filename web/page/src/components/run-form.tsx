/** The form that runs a registered job type. */

import { type JobType, ProblemError } from "longshore-client";
import { useEffect, useRef, useState } from "preact/hooks";
import { announce } from "../accessibility";
import { go } from "../router";
import { Run } from "../run/run";
import { text } from "../text";
import { ErrorNotice } from "./errors";
import { ItemsCard } from "./items-card";
import { OptionsCard } from "./options-card";

export function RunForm({ type }: { type: JobType }) {
  const t = text.run;
  const [run] = useState(() => new Run(type));
  const [failures, setFailures] = useState(0);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => () => run.close(), [run]);
  // The first field that is wrong, after a start that the page or the server refused.
  useEffect(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus(), [failures]);
  const start = async () => {
    const job = await run.start();
    if (job) return go(`/jobs/${job.jobId}`);
    setFailures((failures) => failures + 1);
  };
  const stage = run.stage.value;
  useEffect(() => {
    if (stage !== "none") announce(t[stage]);
  }, [stage]);
  return (
    <form
      ref={form}
      noValidate
      aria-labelledby="run-title"
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <h2 id="run-title" class="run-title">
        {t.run(type.name)}
      </h2>
      <fieldset class="choices" disabled={stage !== "none"}>
        <ItemsCard run={run} />
        <OptionsCard run={run} />
      </fieldset>
      <div role="alert">{isMarked(run) && <p class="notice bad">{t.fix}</p>}</div>
      <ErrorNotice error={unmarkedError(run)} />
      <div class="actions">
        <button type="submit" class="main" disabled={stage !== "none"}>
          {stage === "none" ? t.start : t[stage]}
        </button>
        {type.itemsPerSecond != null && <span class="quiet small">{t.rate(type.itemsPerSecond)}</span>}
      </div>
    </form>
  );
}

/** Returns true if fields are marked. */
function isMarked(run: Run): boolean {
  const { fields, options, items } = run.placed.value;
  const isRefused = fields.size + options.length + items.length > 0;
  return isRefused || (run.isTried.value && !run.isReady());
}

/** Returns the error of the server, unless each of its parts is shown at a field. */
function unmarkedError(run: Run): unknown {
  const error = run.error.value;
  const isShown =
    error instanceof ProblemError && error.errors.length > 0 && run.placed.value.others.length === 0;
  return isShown ? null : error;
}
