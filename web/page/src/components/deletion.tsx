/** The deletion of a resource: a button, a question, and the error of the call. */

import { useState } from "preact/hooks";
import { announce } from "../accessibility";
import { guarded } from "../api";
import { go } from "../router";
import { Confirm } from "./confirm";
import { ErrorNotice } from "./errors";

interface DeletionTexts {
  delete: string;
  keep: string;
  confirmTitle: string;
  confirmBody: string;
  deleted: string;
}

interface DeletionProps {
  texts: DeletionTexts;
  /** Path of the list that is shown afterwards. */
  list: string;
  call: () => Promise<void>;
}

export function Deletion({ texts, list, call }: DeletionProps) {
  const [isConfirming, setIsConfirming] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const remove = async () => {
    setError(null);
    try {
      await guarded(call);
      announce(texts.deleted);
      go(list);
    } catch (error) {
      setError(error);
    }
  };
  return (
    <>
      <ErrorNotice error={error} />
      <div class="actions">
        <button type="button" class="plain" onClick={() => setIsConfirming(true)}>
          {texts.delete}
        </button>
      </div>
      {isConfirming && (
        <Confirm
          title={texts.confirmTitle}
          no={texts.keep}
          yes={texts.delete}
          onAnswer={(yes) => {
            setIsConfirming(false);
            if (yes) void remove();
          }}
        >
          {texts.confirmBody}
        </Confirm>
      )}
    </>
  );
}
