/** A dialog that asks an operator for the reason of an action, which goes into the operators' log. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { text } from "../../../text";

/** Maximum number of characters of a reason. */
const REASON_CHARS = 500;

interface ReasonDialogProps {
  title: string;
  children: ComponentChildren;
  /** The text of the button that confirms. */
  yes: string;
  /** True if the action removes something. */
  isDanger?: boolean;
  /** Called with the reason, or with null if the user changes their mind. */
  onAnswer: (reason: string | null) => void;
}

export function ReasonDialog({ title, children, yes, isDanger, onAnswer }: ReasonDialogProps) {
  const t = text.operations.reason;
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const answer = useRef<string | null>(null);
  const [reason, setReason] = useState("");
  const [isMissing, setIsMissing] = useState(false);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  const confirm = () => {
    answer.current = reason.trim() || null;
    setIsMissing(!answer.current);
    if (answer.current) dialog.current?.close();
    else field.current?.focus();
  };
  return (
    // Answers after closing, when the browser has restored the focus.
    <dialog ref={dialog} aria-labelledby={`${id}-title`} onClose={() => onAnswer(answer.current)}>
      <h2 id={`${id}-title`}>{title}</h2>
      <div class="stack">
        <p>{children}</p>
        <label for={`${id}-reason`} class="field-title">
          {t.label}
        </label>
        <textarea
          id={`${id}-reason`}
          ref={field}
          required
          maxLength={REASON_CHARS}
          value={reason}
          aria-invalid={isMissing}
          aria-describedby={`${id}-hint`}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
        <small id={`${id}-hint`} class={isMissing ? "wrong" : "quiet"}>
          {isMissing ? t.missing : t.hint}
        </small>
      </div>
      <div class="actions">
        <button type="button" onClick={() => dialog.current?.close()}>
          {t.cancel}
        </button>
        <button type="button" class={isDanger ? "danger" : "main"} onClick={confirm}>
          {yes}
        </button>
      </div>
    </dialog>
  );
}
