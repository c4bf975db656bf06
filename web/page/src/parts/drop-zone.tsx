/** A place for a file: to drop it, or to choose it by mouse or keyboard. */

import { useId, useState } from "preact/hooks";

interface Props {
  title: string;
  choose: string;
  accept: string;
  small?: boolean;
  onFile: (file: File) => void;
}

export function DropZone({ title, choose, accept, small, onFile }: Props) {
  const id = useId();
  const [over, setOver] = useState(false);
  const take = (files: FileList | null | undefined) => {
    const file = files?.[0];
    if (file) onFile(file);
  };
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
        type="file"
        class="unseen"
        accept={accept}
        onChange={(event) => {
          take(event.currentTarget.files);
          // So that the same file can be chosen again once it was mended.
          event.currentTarget.value = "";
        }}
      />
    </label>
  );
}
