/** The page's current draft of an import: picked, removed and started independently of the view. */

import { effect, signal } from "@preact/signals";
import { announce } from "./announce";
import { Draft } from "./draft";
import { readSheet } from "./file/sheet";
import { rememberDataset, rememberSchema } from "./local-storage";
import { go, route } from "./router";
import { sessionState } from "./session";
import { text } from "./text";

/** The current draft, if any. */
export const currentDraft = signal<Draft | null>(null);

/** The last job that was started while another view was shown. The import view links to it. */
export const startedInBackground = signal<{ fileName: string; jobId: string } | null>(null);

/** Counts picked files. The last one wins, however long the earlier ones take to read. */
let picked = 0;

/** Replaces the current draft with a new file. Returns the reason if the file is refused. */
export async function pick(file: File): Promise<string | null> {
  remove();
  const turn = ++picked;
  // Read before the check of the name: "this is a workbook" helps more than "the name is wrong".
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

/** Removes the current draft and cancels its start. */
export function remove(): void {
  picked++;
  currentDraft.peek()?.close();
  currentDraft.value = null;
  startedInBackground.value = null;
}

/** Starts an import. Shows its job if the import view is still shown. */
export async function start(from: Draft): Promise<void> {
  const job = await from.start();
  const isShown = route.peek().view === "import";
  const { name } = from.file;
  if (!job) {
    if (!isShown && currentDraft.peek() === from && from.stage.peek() === "none")
      announce(text.start.notStarted(name));
    return;
  }
  const { dataset, schema } = from.chosen.peek();
  rememberDataset(job.jobId, dataset);
  if (schema) rememberSchema(dataset, { name: schema.name, text: JSON.stringify(schema.document) });
  if (currentDraft.peek() === from) remove();
  if (isShown) return go(`/jobs/${job.jobId}`);
  startedInBackground.value = { fileName: name, jobId: job.jobId };
  announce(text.start.started(name));
}

// A draft belongs to one user.
effect(() => {
  if (sessionState.value === "signed-out") remove();
});
