/** A table in its own scroll box. If columns are cut off, a hint above explains that the box scrolls. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { text } from "../text";

interface Props {
  caption: string;
  head: ComponentChildren;
  children: ComponentChildren;
}

export function Table({ caption, head, children }: Props) {
  const box = useRef<HTMLElement>(null);
  const hint = useId();
  const isCut = useIsCut(box);
  return (
    <div class="scroll-frame">
      {isCut && (
        <p id={hint} class="scroll-hint quiet small">
          {text.table.scrolls}
        </p>
      )}
      <section
        ref={box}
        class="scroll"
        aria-label={caption}
        aria-describedby={isCut ? hint : undefined}
        tabIndex={0}
      >
        <table>
          <caption class="visually-hidden">{caption}</caption>
          <thead>
            <tr>{head}</tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </section>
    </div>
  );
}

/** Returns true while the table is wider than its box. */
function useIsCut(box: { readonly current: HTMLElement | null }): boolean {
  const [isCut, setIsCut] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setIsCut(element.scrollWidth > element.clientWidth);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, []);
  return isCut;
}
