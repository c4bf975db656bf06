/** Asks before something that cannot be undone. */

import { useEffect, useRef } from "preact/hooks";
import { text } from "../text";

export function ConfirmDelete({ onAnswer }: { onAnswer: (yes: boolean) => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const { deleteTitle, deleteBody, keep } = text.confirm;
  return (
    <dialog ref={dialog} aria-labelledby="confirm-title" onClose={() => onAnswer(false)}>
      <h2 id="confirm-title">{deleteTitle}</h2>
      <p>{deleteBody}</p>
      <div class="actions">
        <button type="button" onClick={() => onAnswer(false)}>
          {keep}
        </button>
        <button type="button" class="danger" onClick={() => onAnswer(true)}>
          {text.confirm.delete}
        </button>
      </div>
    </dialog>
  );
}
