/** The one import that is being prepared on this page: a file is picked, given up, started, whatever view is shown. */

import { effect, signal } from "@preact/signals";
import { announce } from "./announce";
import { Draft } from "./draft";
import { readSheet } from "./file/sheet";
import { rememberDataset, rememberSchema } from "./memory";
import { go, route } from "./router";
import { sessionState } from "./session";
import { text } from "./text";

/** The import that is being prepared, if there is one. */
export const currentDraft = signal<Draft | null>(null);

/** The last job that was started while the person looked at something else, to be found on the way back. */
export const startedInBackground = signal<{ fileName: string; jobId: string } | null>(null);

/** Files that were picked: the last one counts, however long it takes to read those before. */
let picked = 0;

/** Takes a file in place of the one before. Answers why not, if so. */
export async function pick(file: File): Promise<string | null> {
  remove();
  const turn = ++picked;
  // Read all the same: that a workbook is one is worth more than that its name is wrong.
  const sheet = await readSheet(file);
  if (turn !== picked) return null;
  if (typeof sheet === "string") return text.unreadable[sheet];
  const next = new Draft(file, sheet);
  const refusal = next.upload.refusal(file);
  if (refusal) {
    next.close();
    return refusal;
  }
  if (!next.blocked.value) next.send();
  currentDraft.value = next;
  return null;
}

/** Gives the file up, and a start that waits for it. */
export function remove(): void {
  picked++;
  currentDraft.peek()?.close();
  currentDraft.value = null;
  startedInBackground.value = null;
}

/** Starts an import; goes to its job if the person still waits for it. */
export async function start(from: Draft): Promise<void> {
  const job = await from.start();
  const seen = route.peek().view === "import";
  const { name } = from.file;
  if (!job) {
    if (!seen && currentDraft.peek() === from && from.stage.peek() === "none")
      announce(text.start.notStarted(name));
    return;
  }
  const { dataset, schema } = from.chosen.peek();
  rememberDataset(job.jobId, dataset);
  if (schema) rememberSchema(dataset, { name: schema.name, text: JSON.stringify(schema.document) });
  if (currentDraft.peek() === from) remove();
  if (seen) return go(`/jobs/${job.jobId}`);
  startedInBackground.value = { fileName: name, jobId: job.jobId };
  announce(text.start.started(name));
}

// What one person has prepared is not for the next one.
effect(() => {
  if (sessionState.value === "signed-out") remove();
});
