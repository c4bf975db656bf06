/** The frame of a list that is read again at intervals: its errors, its age, what an empty list means, its end. */

import type { ComponentChildren } from "preact";
import { announce } from "../accessibility";
import type { List } from "../load";
import { text, timeOfDay } from "../text";
import { ErrorNotice } from "./errors";
import { More } from "./tables";

interface ListingProps<T> {
  list: List<T>;
  /** True if there is nothing to show; by default, if nothing was read. */
  isEmpty?: boolean;
  /** The text in place of an empty list. */
  none: string;
  children: ComponentChildren;
}

export function Listing<T>({ list, isEmpty = list.items?.length === 0, none, children }: ListingProps<T>) {
  const t = text.operations;
  return (
    <>
      <ErrorNotice error={list.error} retry={list.refresh} />
      {list.items && isEmpty && <p class="card quiet">{list.hasMore ? t.noneYet : none}</p>}
      {list.items && !isEmpty && children}
      <More list={list} />
      {list.readAt !== null && <Freshness readAt={list.readAt} refresh={list.refresh} />}
    </>
  );
}

/** The time of the last read, and a button that reads again. */
function Freshness({ readAt, refresh }: { readAt: number; refresh: () => void }) {
  const t = text.operations;
  return (
    <p class="freshness small quiet">
      {t.asOf(timeOfDay(readAt))}
      <button
        type="button"
        class="plain"
        onClick={() => {
          refresh();
          announce(t.refreshed);
        }}
      >
        {t.refresh}
      </button>
    </p>
  );
}
