// SHA-256, in base64 as S3 has it.

/** Reads the bytes into memory: a part at a time, never a file. */
export async function sha256Base64(bytes: Blob): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", await bytes.arrayBuffer());
  return btoa(String.fromCharCode(...new Uint8Array(digest)));
}
