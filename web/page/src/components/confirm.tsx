/** A confirmation dialog before a deletion. */

import { useEffect, useRef } from "preact/hooks";
import { text } from "../text";

const YES = "yes";

export function ConfirmDelete({ onAnswer }: { onAnswer: (yes: boolean) => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const { deleteTitle, deleteBody, keep } = text.confirm;
  return (
    // Answers after closing, when the browser has restored the focus.
    <dialog
      ref={dialog}
      aria-labelledby="confirm-title"
      onClose={(event) => onAnswer(event.currentTarget.returnValue === YES)}
    >
      <h2 id="confirm-title">{deleteTitle}</h2>
      <p>{deleteBody}</p>
      <div class="actions">
        <button type="button" onClick={() => dialog.current?.close()}>
          {keep}
        </button>
        <button type="button" class="danger" onClick={() => dialog.current?.close(YES)}>
          {text.confirm.delete}
        </button>
      </div>
    </dialog>
  );
}
