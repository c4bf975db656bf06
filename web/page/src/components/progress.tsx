/** A job's progress: message, bar, counts, rate and time left. Nothing decreases while the job runs. */

import { hasEnded, type Job } from "longshore-client";
import { useEffect, useRef, useState } from "preact/hooks";
import { duration, jobMessage, jobProgress, number, text, timeLeft } from "../text";

export function Progress({ job }: { job: Job }) {
  const t = text.job;
  const ended = hasEnded(job);
  const left = useTimeLeft(job);
  const counts: [string, number, string][] = [
    [t.succeeded, job.counts.succeeded, job.counts.succeeded > 0 ? "good" : ""],
    [t.failed, job.counts.failed, job.counts.failed > 0 ? "bad" : ""],
    [t.skipped, job.counts.skipped, ""],
  ];
  return (
    <>
      <p class="message">{jobMessage(job)}</p>
      <progress class={job.status} max={100} value={job.percent} aria-label={t.progress} />
      <p class="small quiet figures">
        <span>{jobProgress(job)}</span>
        <span class="percent">{job.percent}%</span>
      </p>
      <dl class="figures-list">
        {counts.map(([name, count, look]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class={look}>{number(count)}</dd>
          </div>
        ))}
        <div>
          <dt>{t.rate}</dt>
          <dd>{job.itemsPerSecond > 0 ? t.perSecond(job.itemsPerSecond) : "-"}</dd>
        </div>
        <div>
          <dt>{ended ? t.took : t.left}</dt>
          <dd>{ended ? took(job) : left}</dd>
        </div>
      </dl>
    </>
  );
}

function took({ durationSeconds }: Job): string {
  return durationSeconds === null ? "-" : duration(durationSeconds);
}

/** Returns the time left as text. Counts down between two responses. */
function useTimeLeft(job: Job): string {
  const [now, setNow] = useState(Date.now);
  const end = useRef<{ at: number; shown: number } | null>(null);
  useEffect(() => {
    if (hasEnded(job)) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [job.status]);
  useEffect(() => {
    if (job.etaSeconds === null) return;
    const at = Date.now() + job.etaSeconds * 1000;
    end.current = { at, shown: end.current?.shown ?? Number.POSITIVE_INFINITY };
    setNow(Date.now());
  }, [job]);
  if (!end.current) return text.job.leftUnknown;
  const { seconds, isKnown } = timeLeft(end.current.shown, (end.current.at - now) / 1000);
  end.current.shown = seconds;
  if (!isKnown) return text.job.leftUnknown;
  return seconds < 5 ? text.job.leftSoon : duration(seconds);
}
