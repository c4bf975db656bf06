// SHA-256, in base64 as S3 has it.

/** Reads the bytes into memory: a part at a time, never a file. */
export async function sha256Of(bytes: Blob): Promise<string> {
  return encode(new Uint8Array(await crypto.subtle.digest("SHA-256", await bytes.arrayBuffer())));
}

/** The same SHA-256 in base64, if it is in hexadecimal. */
export function base64Of(sha256: string): string {
  if (!/^[0-9a-f]{64}$/i.test(sha256)) return sha256;
  return encode(Uint8Array.from(sha256.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)));
}

function encode(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
