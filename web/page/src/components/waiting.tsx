/** The reason why the items of a registered job type wait, and the time until the next try. */

import type { WaitingFor } from "longshore-client";
import { useEffect, useState } from "preact/hooks";
import { announce } from "../accessibility";
import { role } from "../session";
import { moment, text } from "../text";
import { nextTry, waitingWords } from "../waiting";
import { RunbookLink } from "./runbook";

export function Waiting({ waitingFor }: { waitingFor: WaitingFor }) {
  const { reason, since, nextTry: at } = waitingFor;
  const [now, setNow] = useState(Date.now);
  const [title, explanation] = waitingWords(reason);
  useEffect(() => announce(title), [title]);
  useEffect(() => {
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [at]);
  const next = nextTry(at, now);
  return (
    <div class="notice warn waiting">
      <div>
        <strong>{title}</strong>
        <p>{explanation}</p>
      </div>
      <p class="small">
        {next && (
          <span role="timer" class="next-try">
            {next}
          </span>
        )}
        <span>{text.waiting.since(moment(since))}</span>
        {role.value && (
          <span>
            <RunbookLink reason={reason} />
          </span>
        )}
      </p>
    </div>
  );
}
