/** The end of a list: more of it, or that it is being read. */

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
