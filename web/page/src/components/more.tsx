/** The end of a list: a button for more, or a loading message. */

import type { List } from "../load";
import { text } from "../text";

export function More<T>({ list }: { list: List<T> }) {
  if (list.loading) return <p class="quiet">{text.loading}</p>;
  if (!list.hasMore) return null;
  return (
    <p class="center">
      <button type="button" onClick={list.more}>
        {text.more}
      </button>
    </p>
  );
}
