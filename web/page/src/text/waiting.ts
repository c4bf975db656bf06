/** Texts of a job that waits for its handler. */

import { duration } from "./format";

export const waitingText = {
  waiting: {
    reasons: {
      handler_unavailable: [
        "The handler does not respond",
        "It is called again until it does. Nothing is lost: items that wait spend no try.",
      ],
      handler_failing: [
        "The handler fails at every batch",
        "It is tried with single items until one succeeds. Items that wait spend no try.",
      ],
      concurrency_limit: [
        "Other jobs of this type are running",
        "Only some calls run at a time, over all jobs of the type. This job continues by itself.",
      ],
      rate_limit: [
        "The rate limit of this type is reached",
        "Only some items run a second, over all jobs of the type. This job continues by itself.",
      ],
      backpressure: [
        "The handler asks for a pause",
        "It, or a service behind it, is busy. Items that wait spend no try.",
      ],
      paused: [
        "The job is paused by an operator",
        "Nothing is lost: it continues by itself when the pause ends.",
      ],
    } as Record<string, [string, string]>,
    unknown: ["The job waits for its handler", "It continues by itself."] as [string, string],
    next: (seconds: number) => `Next try in ${duration(seconds)}`,
    nextSoon: "Next try in a moment",
    since: (when: string) => `Since ${when}`,
    runbook: "Runbook",
    runbookOf: (reason: string) => `Runbook: ${reason} (opens in a new tab)`,
  },
};
