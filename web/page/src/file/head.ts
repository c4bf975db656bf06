/**
 * The first bytes of a file, read in the browser before the upload. Refuses the same files as the server
 * (`shared/domain/src/records/sniff.rs`).
 */

/** Bytes to read: enough for a header and some rows. */
const HEAD_BYTES = 256 * 1024;

/** Reasons why a file cannot be read at all. */
export type Unreadable = "unread" | "empty" | "workbook" | "archive" | "pdf" | "binary" | "not-utf8";

/** The beginning of a file as text. */
export interface Head {
  text: string;
  /** Bytes before the text: a byte order mark. */
  markBytes: number;
  /** True if the text is the whole file. */
  isComplete: boolean;
}

const MAGIC_NUMBERS: [number[], Unreadable][] = [
  [[0xff, 0xfe], "not-utf8"],
  [[0xfe, 0xff], "not-utf8"],
  [[0x50, 0x4b, 0x03, 0x04], "archive"],
  [[0x50, 0x4b, 0x05, 0x06], "archive"],
  [[0x1f, 0x8b], "archive"],
  [[0x25, 0x50, 0x44, 0x46, 0x2d], "pdf"],
  [[0xd0, 0xcf, 0x11, 0xe0], "workbook"],
];

/** Reads the beginning of a file, or returns why it is unreadable. */
export async function readHead(file: File): Promise<Head | Unreadable> {
  const bytes = await firstBytes(file);
  if (!bytes) return "unread";
  const isComplete = file.size <= HEAD_BYTES;
  const known = MAGIC_NUMBERS.find(([magic]) => magic.every((byte, at) => bytes[at] === byte))?.[1];
  if (known) return known === "archive" && /\.(xlsx|ods)$/i.test(file.name) ? "workbook" : known;
  if (bytes.includes(0)) return "binary";
  const markBytes = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  let text: string;
  try {
    // `stream`: the last character may be cut in two.
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(markBytes), {
      stream: !isComplete,
    });
  } catch {
    // An invalid byte fails only its own row. In the header it fails the file.
    text = new TextDecoder().decode(bytes.subarray(markBytes), { stream: !isComplete });
    if (text.slice(0, firstLineEnd(text)).includes("\ufffd")) return "not-utf8";
  }
  return text.trim() === "" && isComplete ? "empty" : { text, markBytes, isComplete };
}

/** Returns null for a folder, and for a file that was moved or changed after it was picked. */
async function firstBytes(file: File): Promise<Uint8Array | null> {
  try {
    return new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  } catch {
    return null;
  }
}

function firstLineEnd(text: string): number {
  const end = text.indexOf("\n");
  return end < 0 ? text.length : end;
}
