/** A zone that accepts a dropped file, or opens the file chooser by mouse or keyboard. */

import type { RefObject } from "preact";
import { useEffect, useId, useState } from "preact/hooks";

interface Props {
  title: string;
  choose: string;
  accept: string;
  small?: boolean;
  /** True to accept drops outside the zone, too. */
  anywhere?: boolean;
  /** The input, as a target of focus. */
  input?: RefObject<HTMLInputElement | null>;
  /** Id of the text that says what is wrong; undefined if nothing is. */
  wrong?: string | undefined;
  onFile: (file: File) => void;
}

export function DropZone({ title, choose, accept, small, anywhere, input, wrong, onFile }: Props) {
  const id = useId();
  const [over, setOver] = useState(false);
  const take = (files: FileList | null | undefined) => {
    const file = files?.[0];
    if (file) onFile(file);
  };
  useEffect(() => {
    if (!anywhere) return;
    const onDrop = (event: DragEvent) => take(event.dataTransfer?.files);
    addEventListener("drop", onDrop);
    return () => removeEventListener("drop", onDrop);
  });
  return (
    <label
      for={id}
      class={`drop ${over ? "over" : ""} ${small ? "small-drop" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        event.stopPropagation();
        setOver(false);
        take(event.dataTransfer?.files);
      }}
    >
      <svg viewBox="0 0 24 24" width="32" height="32" aria-hidden="true">
        <path d="M12 16V4m0 0L7 9m5-5 5 5M4 16v3a1 1 0 0 0 1 1h14a1 1 0 0 0 1-1v-3" />
      </svg>
      <strong>{title}</strong>
      <span class="link">{choose}</span>
      <input
        id={id}
        ref={input}
        type="file"
        class="visually-hidden"
        accept={accept}
        aria-invalid={wrong ? "true" : undefined}
        aria-describedby={wrong}
        onChange={(event) => {
          take(event.currentTarget.files);
          // Allows the same file to be chosen again after a correction.
          event.currentTarget.value = "";
        }}
      />
    </label>
  );
}

/** Prevents the browser from opening a file that is dropped outside every zone. */
export function keepPageOnDrop(): void {
  for (const name of ["dragover", "drop"] as const) {
    addEventListener(name, (event) => {
      if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
    });
  }
}
