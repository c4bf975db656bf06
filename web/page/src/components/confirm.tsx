/** A dialog that asks for a confirmation. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** The answer of the dialog. */
const YES = "yes";

interface ConfirmProps {
  title: string;
  children: ComponentChildren;
  /** The text of the button that does nothing. */
  no: string;
  /** The text of the button that confirms. */
  yes: string;
  onAnswer: (yes: boolean) => void;
}

export function Confirm({ title, children, no, yes, onAnswer }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    // Answers after closing, when the browser has restored the focus.
    <dialog
      ref={dialog}
      aria-labelledby="confirm-title"
      onClose={(event) => onAnswer(event.currentTarget.returnValue === YES)}
    >
      <h2 id="confirm-title">{title}</h2>
      {typeof children === "string" ? <p>{children}</p> : children}
      <div class="actions">
        <button type="button" onClick={() => dialog.current?.close()}>
          {no}
        </button>
        <button type="button" class="danger" onClick={() => dialog.current?.close(YES)}>
          {yes}
        </button>
      </div>
    </dialog>
  );
}
