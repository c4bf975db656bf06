/** The import view: pick a file, check it while it uploads, choose options, start. */

import { useEffect, useRef, useState } from "preact/hooks";
import { announce, useFocusOnChange } from "../accessibility";
import { ColumnsSection } from "../components/columns-section";
import { DropZone } from "../components/drop-zone";
import { ErrorNotice } from "../components/errors";
import { FileCard } from "../components/file-card";
import { Findings } from "../components/findings";
import { ImportForm } from "../components/import-form";
import { Preview } from "../components/preview";
import { Questions } from "../components/questions";
import { currentDraft, type Draft, FILE_TYPES, pick, remove, start, startedInBackground } from "../draft";
import { otherSheets } from "../file/inspection";
import { text } from "../text";

export function ImportView() {
  const shown = currentDraft.value;
  const [refusal, setRefusal] = useState<string | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const zone = useRef<HTMLInputElement>(null);
  useFocusOnChange(shown, () => (shown ? heading : zone).current);
  const take = async (file: File) => {
    setRefusal(null);
    setRefusal(await pick(file));
  };
  return (
    <>
      <h1>{text.file.title}</h1>
      {!shown && (
        <>
          <p class="quiet lead">{text.file.lead}</p>
          <StartedInBackground />
          <DropZone
            title={text.file.drop}
            choose={text.file.choose}
            accept={FILE_TYPES.join(",")}
            anywhere
            input={zone}
            onFile={(file) => void take(file)}
          />
        </>
      )}
      {refusal && (
        <p class="notice bad" role="alert">
          {refusal}
        </p>
      )}
      {shown && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void start(shown);
          }}
        >
          <FileCard draft={shown} heading={heading} onRemove={remove} />
          <Choices draft={shown} />
          <ErrorNotice error={shown.error.value} />
          <Start draft={shown} />
        </form>
      )}
    </>
  );
}

/** The findings and the options. Disabled while a start waits. */
function Choices({ draft }: { draft: Draft }) {
  const { inspector, plan } = draft;
  const answer = inspector.found.value?.answer;
  useAnnouncements(draft);
  return (
    <>
      <Findings draft={draft} />
      <fieldset class="choices" disabled={draft.stage.value !== "none"}>
        <Questions plan={plan} />
        {answer && (
          <Preview
            table={plan.table.value}
            properties={plan.properties.value}
            otherSheets={otherSheets(answer).map(({ name, hidden }) =>
              hidden ? text.reading.hidden(name) : name,
            )}
            isStale={draft.isStale.value}
          />
        )}
        <ImportForm plan={plan} />
        {answer && <ColumnsSection plan={plan} />}
      </fieldset>
    </>
  );
}

/** Announces when the file is read again, and when it is read. */
function useAnnouncements({ inspector, plan, isStale }: Draft): void {
  const isAgain = isStale.value;
  const isRead = inspector.found.value !== null && !inspector.isPending.value;
  const isFailed = inspector.error.value !== null;
  useEffect(() => {
    const { columns, rows } = plan.table.value;
    if (isAgain) announce(text.inspection.again);
    else if (isRead && !isFailed) announce(text.inspection.read(columns.length, rows.length));
  }, [isAgain, isRead, isFailed]);
}

function Start({ draft }: { draft: Draft }) {
  const t = text.start;
  const stage = draft.stage.value;
  const { mode } = draft.plan.chosen.value;
  const button = useRef<HTMLButtonElement>(null);
  const back = useRef<HTMLButtonElement>(null);
  useFocusOnChange(stage, () => (stage === "waiting" ? back : button).current);
  useEffect(() => {
    if (stage !== "none") announce(t[stage]);
  }, [stage]);
  return (
    <div class="actions start">
      <button
        ref={button}
        type="submit"
        class="main"
        disabled={!draft.plan.isReady.value || stage !== "none"}
      >
        {stage !== "none" ? t[stage] : mode === "validate" || mode === "delete" ? t[mode] : t.import}
      </button>
      {stage === "waiting" && (
        <button ref={back} type="button" onClick={() => draft.cancelStart()}>
          {t.cancel}
        </button>
      )}
    </div>
  );
}

/** A link to a job that was started while another view was shown. */
function StartedInBackground() {
  const started = startedInBackground.value;
  if (!started) return null;
  return (
    <p class="notice good">
      {text.start.started(started.fileName)} <a href={`/jobs/${started.jobId}`}>{text.start.seeJob}</a>
    </p>
  );
}
