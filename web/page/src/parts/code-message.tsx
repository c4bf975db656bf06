/** What the API tells by a code: in the page's words, beside its own where they say more, and in its own where it has no others. */

interface Props {
  /** Ends with a colon where the API's sentence says more. */
  words: string | undefined;
  /** The API's sentence. */
  message: string;
}

export function CodeMessage({ words, message }: Props) {
  if (!words) return <>{message}</>;
  if (!words.endsWith(":")) return <>{words}</>;
  return (
    <>
      {withoutColon(words)}
      <small class="api-message quiet" lang="en">
        {message}
      </small>
    </>
  );
}

/** The words where nothing follows them. */
export function withoutColon(words: string): string {
  return words.replace(/:$/, "");
}
