/** Texts of the operators' view: its parts, their lists, and the dialogs before an action. */

import { duration, number, plural } from "./format";

const PARTS = {
  jobs: "Jobs",
  failures: "Failures",
  queues: "Queues",
  handlers: "Handlers",
  pauses: "Pauses",
  "dead-letters": "Dead letters",
  webhooks: "Webhooks",
  log: "Log",
};

/** Returns words in the middle of a sentence. */
const lowered = (words: string) => words.replace(/^./, (first) => first.toLowerCase());

export const operationsText = {
  operations: {
    title: "Operations",
    titleOf: (part: keyof typeof PARTS) => `${PARTS[part]} - Operations`,
    lead: "Jobs, failures and queues of all tenants. Rows, options and names of files are not shown.",
    readOnly: "You can read everything here. Only operators retry, replay, discard and pause.",
    notOperator: {
      title: "Only operators see this page",
      body: "Ask an administrator to make you an operator, and sign in again.",
      home: "See your jobs",
    },
    label: "Operations",
    parts: PARTS,
    asOf: (time: string) => `As of ${time}`,
    refresh: "Refresh",
    refreshed: "The list was read again.",
    noneYet: "Nothing matches among what was read so far. There is more to read.",
    unknown: "-",
    tenant: "Tenant",
    type: "Job type",
    status: "Status",
    since: (when: string) => `Since ${when}`,

    filters: {
      label: "Filters",
      any: "All",
      anyType: "Every type",
      anyTenant: "Every tenant",
      anyCode: "Every code",
      accepted: "Accepted",
      ages: {
        "": "At any time",
        "1h": "In the last hour",
        "24h": "In the last day",
        "7d": "In the last week",
      },
      order: "Order",
      orders: { "": "Newest first", oldest: "Unfinished, oldest first" },
      code: "Code",
      queue: "Queue",
      jobId: "Job",
      anyJob: "Every job",
      clear: "Clear all filters",
      oneJob: (when: string) => `Only the job that was accepted at ${when}.`,
    },

    jobs: {
      title: "Jobs of all tenants",
      caption: "Jobs of all tenants",
      none: "No job matches.",
      job: "Job",
      items: "Items",
      counting: (items: number) => `${number(items)} so far`,
      failed: "Failed",
      failuresOf: (id: string, items: number) =>
        `${plural(items, "failed item", "failed items")} of job ${id} by code`,
      created: "Accepted",
      attempts: (attempts: number) => `Attempt ${number(attempts)}`,
      deadline: (when: string) => `Stopped at ${when}`,
    },

    failures: {
      title: "Failures by code",
      caption: "Failed items by code, the most frequent first",
      lead: "Failed items of ended jobs, from their reports. Show more to add those of earlier jobs.",
      none: "No ended job has failed items.",
      code: "Code",
      items: "Items",
      jobs: "Jobs",
      seen: "Last seen",
      first: (when: string) => `First ${when}`,
      actions: "Actions",
      retry: "Retry these",
      retryOf: (code: string, type: string) => `Retry the items of ${type} that failed with ${code}`,
      read: (jobs: number) => `Read from ${plural(jobs, "report", "reports")}.`,
      uncounted: (items: number) =>
        `${plural(items, "failed item is", "failed items are")} not counted: the report is gone, or has too many codes.`,
      leftOut: (groups: number) =>
        `${plural(groups, "group is", "groups are")} left out. Filter by type or code.`,
      confirmTitle: (items: number, jobs: number) =>
        `Retry ${plural(items, "item", "items")} of ${plural(jobs, "job", "jobs")}?`,
      confirmBody: (code: string, type: string) =>
        `Only the items of ${type} that failed with ${code} run again. Jobs that were stopped before all of their ` +
        "items were processed, or that have ended since the list was read, are left out.",
      confirm: "Retry these",
      retrying: "Retrying...",
      result: (started: number, jobs: number) =>
        `${number(started)} of ${plural(jobs, "job", "jobs")} started.`,
      partly: "The retry was interrupted. Retry the group again: nothing starts twice.",
      refused: "Not started",
    },

    queues: {
      title: "Queues",
      caption: "Queues of the stack",
      lead: "The numbers are approximate. The age is a minute or more old.",
      none: "There are no queues.",
      queue: "Queue",
      deadLetters: "Dead letters",
      visible: "Waiting",
      inFlight: "In work",
      delayed: "Delayed",
      oldest: "Oldest",
      age: (seconds: number) => duration(seconds),
      names: {
        create: "Split of jobs",
        prepare: "Conversion of files",
        chunkHigh: "Chunks, high priority",
        chunkNormal: "Chunks, normal priority",
        chunkLow: "Chunks, low priority",
        chunkHandler: "Chunks of registered types",
        complete: "Completion of jobs",
        webhook: "Deliveries to webhooks",
        createDeadLetters: "Dead letters of splits",
        chunkDeadLetters: "Dead letters of chunks",
        completeDeadLetters: "Dead letters of completions",
        webhookDeadLetters: "Dead letters of deliveries",
      } as Record<string, string>,
    },

    handlers: {
      title: "Handlers",
      caption: "Registered job types with their circuit breakers",
      none: "No job type is registered.",
      handler: "Handler",
      breaker: "Circuit breaker",
      states: {
        closed: "Closed",
        unreachable: "Open: no answer to pings",
        batchesFail: "Open: batches fail",
      } as Record<string, string>,
      nextTry: (when: string) => `Next try ${when}`,
      unanswered: (when: string) => `No answer since ${when}`,
      permits: "Calls now",
      permitsOf: (used: number, limit: number | null) =>
        limit === null ? number(used) : `${number(used)} of ${number(limit)}`,
      lowered: (from: number) => `Lowered from ${number(from)}`,
      parked: "Parked chunks",
      parkedOf: (chunks: number, hasMore: boolean) =>
        hasMore ? `${number(chunks)} or more` : number(chunks),
      rate: "Rate",
    },

    pauses: {
      title: "Pauses",
      caption: "Pauses that are in force, the latest first",
      lead:
        "No item of a paused job type or tenant starts. Jobs are accepted as before, and stop at their time limit. " +
        "A pause ends by itself.",
      none: "Nothing is paused.",
      scope: "Paused",
      ofType: (type: string) => `Job type ${type}`,
      ofTenant: (tenant: string) => `Tenant ${tenant}`,
      since: "Since",
      until: "Until",
      by: "By",
      actions: "Actions",
      end: "End",
      endOf: (scope: string) => `End the pause: ${scope}`,
      endTitle: (scope: string) => `End the pause of ${lowered(scope)}?`,
      endBody: "Its jobs resume within about three minutes.",
      ended: "The pause has ended.",
      form: {
        title: "New pause",
        kind: "Pause",
        kinds: { type: "A job type", tenant: "A tenant" },
        name: { type: "Name of the job type", tenant: "Name of the tenant" },
        duration: "For",
        durations: { "1": "1 hour", "4": "4 hours", "24": "1 day", "168": "7 days" },
        submit: "Pause...",
      },
      confirmTitle: (scope: string) => `Pause ${lowered(scope)}?`,
      confirmBody: (until: string) =>
        `No further item starts until ${until}, or until an operator ends the pause. ` +
        "Jobs that reach their time limit stop.",
      confirm: "Pause",
      paused: (until: string) => `Paused until ${until}.`,
      pausedBefore: (until: string, by: string) =>
        `Nothing was changed: ${by} has paused it until ${until}. End that pause first to set another end.`,
    },

    deadLetters: {
      title: "Dead letters",
      caption: "Open dead letters, newest first",
      lead: "Messages that failed at every delivery. Fix the cause before you replay one.",
      none: "There are no open dead letters.",
      message: "Message",
      kinds: {
        create: "Split",
        chunk: "Chunk",
        complete: "Completion",
        unreadable: "Unreadable message",
      } as Record<string, string>,
      queues: { "": "Every queue", create: "Split", chunk: "Chunks", complete: "Completion" },
      items: (first: number, last: number) => `Items ${number(first)} to ${number(last)}`,
      job: (id: string) => `Job ${id}`,
      reason: "Reason",
      received: (receives: number) => plural(receives, "delivery", "deliveries"),
      at: "Failed",
      actions: "Actions",
      replay: "Replay",
      replayOf: (name: string) => `Replay: ${name}`,
      later: "It can be replayed once its job has ended.",
      replayTitle: "Replay this dead letter?",
      replayBody: {
        message: "The message is sent again.",
        generation:
          "The job is retried for the items that failed with it, and for those that no attempt has processed.",
        putBack: "The message returns to its queue as it is.",
      } as Record<string, string>,
      replayed: "The dead letter was replayed.",
      replayAll: "Replay all of this job",
      replayAllTitle: "Replay all dead letters of this job?",
      replayAllBody: "The job is retried once for the chunks of all its dead letters, up to a hundred.",
      replayedAll: (replayed: number, left: number) =>
        left > 0
          ? `${plural(replayed, "dead letter was", "dead letters were")} replayed. ${number(left)} could not be.`
          : `${plural(replayed, "dead letter was", "dead letters were")} replayed.`,
      discard: "Discard",
      discardOf: (name: string) => `Discard: ${name}`,
      discardTitle: "Discard this dead letter?",
      discardBody:
        "It leaves the list. Rows that failed with it stay failed; a retry of the job runs them again.",
      discarded: "The dead letter was discarded.",
    },

    webhooks: {
      title: "Webhooks of a tenant",
      caption: (tenant: string) => `Webhooks of ${tenant}`,
      choose: "Enter a tenant to see its webhooks.",
      none: "This tenant has no webhooks.",
      webhook: "Webhook",
      health: "Health",
      healthy: "No failure since the last accepted event",
      failures: (failures: number, since: string) =>
        `${plural(failures, "failure", "failures")} since ${since}`,
      paused: (until: string) => `Paused until ${until}`,
      created: "Created",
    },

    log: {
      title: "What operators have done",
      caption: "Actions of operators, newest first",
      none: "No operator has done anything in the last 400 days.",
      at: "Time",
      operator: "Operator",
      action: "Action",
      reason: "Reason",
      noReason: "-",
      result: "Result",
      noResult: "Unknown: read the jobs",
      actions: {
        replayDeadLetter: "Replayed a dead letter",
        replayDeadLettersOfJob: "Replayed the dead letters of a job",
        discardDeadLetter: "Discarded a dead letter",
        retryFailures: "Retried failures",
        pause: "Paused",
        resume: "Ended a pause",
        readDeadLetter: "Read the rows of a dead letter",
        other: "Did something that this version does not know",
      } as Record<string, string>,
      jobs: (count: number) => plural(count, "job", "jobs"),
    },

    reason: {
      label: "Reason",
      hint: "It goes into the operators' log. Write no data of a tenant into it.",
      missing: "Say why you do this.",
      cancel: "Cancel",
    },
  },
};
