/** Texts of schedules: their list, one of them, and its occurrences. */

export const schedulesText = {
  schedules: {
    title: "Schedules",
    lead: "A schedule creates a job repeatedly, or once at a set time.",
    none: "There are no schedules yet.",
    caption: "Schedules, oldest first",
    back: "All schedules",
    name: "Name",
    timing: "When",
    next: "Next",
    noNext: "-",
    state: "Status",
    states: { active: "Active", paused: "Paused", over: "Ended" },
    everyMinutes: (minutes: number) => `Every ${minutes} minutes`,
    cron: (pattern: string, zone: string) => `${pattern} (${zone})`,

    times: {
      title: "Next times",
      caption: "The next five times",
      none: "No upcoming runs.",
      paused: "The schedule is paused. Clear Paused and save to resume it.",
      local: (zone: string) => `In ${zone}`,
      utc: "In UTC",
      changes: {
        forward:
          "The clock is put forward over the time of the pattern, so it runs when the clock is changed.",
        back: "The clock is put back, so this time occurs twice. Hourly patterns run both times; others the first time only.",
      },
      change: "Clock change",
    },

    occurrences: {
      title: "Occurrences",
      none: "No occurrences yet.",
      caption: "Occurrences, newest first",
      scheduled: "Time",
      result: "Result",
      results: { started: "Started", skipped: "Skipped", failed: "Failed" },
      detail: "Job or reason",
      reasons: {
        overlap: "The job of an earlier occurrence was active.",
        too_late: "Missed: it was noticed more than an hour late, or when the next one was due.",
      },
      /** Failures by code. A colon at the end asks for the API's own sentence. */
      failures: {
        options_refused: "The job type no longer accepts the options of the job:",
      } as Record<string, string>,
    },

    trigger: "Run now",
    triggered: "The job was started.",
    lastJob: "Last job",

    form: {
      create: "New schedule",
      change: "Edit schedule",
      timing: "When",
      kinds: { cron: "At the times of a cron pattern", every: "At a fixed interval", at: "Once" },
      pattern: "Cron pattern",
      patternHint:
        "Minute, hour, day of the month, month, day of the week: 30 2 * * MON-FRI is at 02:30 from Monday to Friday.",
      zone: "Time zone",
      minutes: "Minutes between two times",
      at: "Date and time (your computer's time zone)",
      job: "Job",
      jobs: { export: "Export a dataset", other: "Another job" },
      dataset: "Dataset",
      format: "Format",
      formats: { jsonl: "JSON Lines", csv: "CSV", xlsx: "Workbook (XLSX)" },
      json: "The job as JSON, as POST /api/jobs takes it",
      badJson: "This is not a JSON object.",
      overlap: "Start a new job even if the previous one is still active",
      paused: "Paused",
      save: "Save",
      submit: "Create schedule",
    },

    delete: "Delete schedule",
    confirmTitle: "Delete this schedule?",
    confirmBody: "It makes no further jobs. Its earlier jobs stay.",
    keep: "Keep it",
    deleted: "The schedule was deleted.",
    saved: "The schedule was saved.",
  },
};
