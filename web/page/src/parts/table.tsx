/** A table that scrolls within its own box on a narrow screen, by keyboard too. */

import type { ComponentChildren } from "preact";

interface Props {
  caption: string;
  head: ComponentChildren;
  children: ComponentChildren;
}

export function Table({ caption, head, children }: Props) {
  return (
    <section class="scroll" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>{head}</tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}
