/** The outputs of a job of the type `image`, and downloads that respect the limits of the API. */

import { ProblemError } from "longshore-client";

/** A file of an image: one of its sizes. */
export interface ImageFile {
  readonly name: string;
  readonly width: number;
  readonly height: number;
}

/** An image: the number of its item, and its files from small to large. */
export interface Image {
  readonly item: number;
  readonly files: readonly ImageFile[];
}

/** Width from which a file is large enough for a thumbnail, in pixels. */
const THUMBNAIL_WIDTH = 240;
/** The media types that are shown. */
const SHOWN_TYPES = ["image/jpeg", "image/png", "image/webp"];

/** Returns the image of a row of the results, or null for another row. */
export function imageOf(row: unknown): Image | null {
  const { number, output } = membersOf(row);
  const files = membersOf(output).files;
  if (typeof number !== "number" || !Array.isArray(files)) return null;
  const read = files.map(fileOf).filter((file) => file !== null);
  return { item: number, files: read.sort((a, b) => a.width * a.height - b.width * b.height) };
}

/** Returns the smallest file that fills a thumbnail, or else the largest one. */
export function thumbnailOf({ files }: Image): ImageFile | undefined {
  return files.find(({ width }) => width >= THUMBNAIL_WIDTH) ?? files.at(-1);
}

/** Returns the largest file. */
export function largestOf({ files }: Image): ImageFile | undefined {
  return files.at(-1);
}

/** Returns true for a file that is shown: the browser reads no other media type as an image of the page. */
export function isShown({ type }: Blob): boolean {
  return SHOWN_TYPES.includes(type.split(";")[0]?.trim().toLowerCase() ?? "");
}

/** Returns a function that calls another one, at most `limit` times at the same moment, in the order of the calls. */
export function limited(limit: number): <T>(signal: AbortSignal, call: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (signal, call) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      signal.throwIfAborted();
      return await call();
    } finally {
      const next = waiting.shift();
      // The next call takes the place of this one.
      if (next) next();
      else running--;
    }
  };
}

/** The longest wait for the next try of a download, in seconds. */
const LONGEST_WAIT_S = 300;

/** Calls again while the API's rate limit is used up, after the time that its answer says. */
export async function untilAllowed<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ProblemError) || error.status !== 429) throw error;
      await pause(Math.min(LONGEST_WAIT_S, Math.max(1, error.retryAfter ?? 1)), signal);
    }
  }
}

/** Sleeps. Rejects as soon as the signal aborts. */
function pause(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const end = () => {
      signal.removeEventListener("abort", stop);
      resolve();
    };
    const timer = setTimeout(end, seconds * 1000);
    signal.addEventListener("abort", stop, { once: true });
  });
}

/** Names are one segment of an address, without a way out of the job's folder. */
function fileOf(value: unknown): ImageFile | null {
  const { name, width, height } = membersOf(value);
  if (typeof name !== "string" || !/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/.test(name)) return null;
  if (!isSize(width) || !isSize(height)) return null;
  return { name, width, height };
}

function isSize(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
