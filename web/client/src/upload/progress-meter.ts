// Upload progress as the sum over all parts.

import type { Progress } from "./options.js";

/** Records the bytes sent of one part. */
export type ProgressMeter = (partNumber: number, bytes: number) => void;

/** Reports the sum whenever it reaches a new maximum. A part that starts again does not reduce it. */
export function progressMeter(
  totalBytes: number,
  onProgress: ((progress: Progress) => void) | undefined,
): ProgressMeter {
  const sent = new Map<number, number>();
  let highest = 0;
  return (partNumber, bytes) => {
    sent.set(partNumber, bytes);
    // The bytes on the wire may exceed the file's size; the reported bytes must not.
    const sentBytes = Math.min(
      totalBytes,
      [...sent.values()].reduce((sum, part) => sum + part, 0),
    );
    if (sentBytes <= highest) return;
    highest = sentBytes;
    onProgress?.({ sentBytes, totalBytes });
  };
}
