/** The way out of failed rows: take them home, correct them, drop them back. Only those run again. */

import type { Job } from "longshore-client";
import { useEffect, useRef, useState } from "preact/hooks";
import { MENDED_TYPES, type Mending, mendingOf } from "../mending";
import { text } from "../text";
import { DropZone } from "./drop-zone";
import { Fault } from "./fault";
import { useSwap } from "./swap";
import { UploadBar } from "./upload-bar";

interface Props {
  job: Job;
  download: () => Promise<void>;
  onReopened: () => void;
}

export function Mend({ job, download, onReopened }: Props) {
  const t = text.failures;
  const mending = mendingOf(job);
  const [error, setError] = useState<unknown>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const zone = useRef<HTMLInputElement>(null);
  const isIdle = mending.stage.value === "none";
  useSwap(isIdle, () => (isIdle ? zone : heading).current);
  useEffect(() => {
    mending.onReopened = onReopened;
    return () => {
      mending.onReopened = null;
    };
  });
  return (
    <section class="card" aria-labelledby="mend-title">
      <h2 id="mend-title" ref={heading} tabIndex={-1}>
        {t.mend}
      </h2>
      <div class="mend">
        <ol>
          {t.mendSteps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
        <div class="mend-files">
          <button type="button" class="main" onClick={() => void download().catch(setError)}>
            {t.download(job.counts.failed)}
          </button>
          {isIdle ? (
            <DropZone
              title={t.drop}
              choose={t.choose}
              accept={MENDED_TYPES.join(",")}
              small
              input={zone}
              onFile={(file) => void mending.run(file)}
            />
          ) : (
            <UnderWay mending={mending} />
          )}
        </div>
      </div>
      <Fault error={error} />
      <Fault error={mending.error.value} retry={again(mending)} />
    </section>
  );
}

function UnderWay({ mending }: { mending: Mending }) {
  if (mending.stage.value === "retrying") return <p role="status">{text.failures.retrying}</p>;
  return (
    <>
      <UploadBar upload={mending.upload} />
      <p>
        <button type="button" onClick={() => mending.cancel()}>
          {text.mend.cancel}
        </button>
      </p>
    </>
  );
}

/** Once a file was taken, it needs not be dropped again. */
function again(mending: Mending): (() => void) | undefined {
  const file = mending.upload.file.value;
  return file && mending.stage.value === "none" ? () => void mending.run(file) : undefined;
}
