/** The text for a code of the API: the page's words, the API's sentence, or both. */

interface Props {
  /**
   * The page's words for a known code. A colon at the end asks for the API's sentence, which has more detail.
   */
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

/** Returns the words without the colon. */
export function withoutColon(words: string): string {
  return words.replace(/:$/, "");
}
