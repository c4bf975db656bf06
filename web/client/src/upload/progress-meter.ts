// Progress over all parts.

import type { Progress } from "./options.js";

/** Notes how many bytes of a part have gone out. */
export type ProgressMeter = (partNumber: number, bytes: number) => void;

/** Tells the sum whenever it is higher than it ever was: a part that begins again takes nothing back. */
export function progressMeter(
  totalBytes: number,
  onProgress: ((progress: Progress) => void) | undefined,
): ProgressMeter {
  const sent = new Map<number, number>();
  let highest = 0;
  return (partNumber, bytes) => {
    sent.set(partNumber, bytes);
    // What goes over the wire may be a little more than the file; what is highest is not.
    const sentBytes = Math.min(
      totalBytes,
      [...sent.values()].reduce((sum, part) => sum + part, 0),
    );
    if (sentBytes <= highest) return;
    highest = sentBytes;
    onProgress?.({ sentBytes, totalBytes });
  };
}
