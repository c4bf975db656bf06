/** The beginning of a picked file: whether it is text, and a sample to inspect while the rest is uploaded. */

/** The size from which a text is inspected by a sample. */
const SAMPLED_BYTES = 4 * 1024 * 1024;
/** The size of a sample. The server reads less of it. */
const SAMPLE_BYTES = 512 * 1024;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Names of files that are converted before they are read. */
const CONVERTED = /\.(xlsx|gz|zst|zip)$/i;

/**
 * The first bytes of files that cannot be cut after a line: archives, workbooks, and UTF-16. The server judges all files;
 * this only decides how they are inspected.
 */
const NOT_CUT: number[][] = [
  [0x1f, 0x8b],
  [0x28, 0xb5, 0x2f, 0xfd],
  [0x50, 0x4b, 0x03, 0x04],
  [0x50, 0x4b, 0x05, 0x06],
  [0xd0, 0xcf, 0x11, 0xe0],
  [0xff, 0xfe],
  [0xfe, 0xff],
];

/** Returns false for a folder, and for a file that was moved or changed after it was picked. */
export async function isReadable(file: File): Promise<boolean> {
  try {
    await file.slice(0, 1).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the beginning of a large text as a file of the same name, cut after a line; null if the file itself is to be
 * inspected.
 */
export async function sampleOf(file: File): Promise<File | null> {
  if (file.size <= SAMPLED_BYTES || CONVERTED.test(file.name)) return null;
  const bytes = new Uint8Array(await file.slice(0, SAMPLE_BYTES).arrayBuffer());
  if (isConverted(bytes)) return null;
  return new File([bytes.subarray(0, cutAfterLine(bytes))], file.name, { type: file.type });
}

function isConverted(bytes: Uint8Array): boolean {
  return NOT_CUT.some((magic) => magic.every((byte, at) => bytes[at] === byte));
}

/** Returns the length up to the last line end; all of it without one. */
function cutAfterLine(bytes: Uint8Array): number {
  const end = Math.max(bytes.lastIndexOf(LINE_FEED), bytes.lastIndexOf(CARRIAGE_RETURN));
  return end < 0 ? bytes.length : end + 1;
}
