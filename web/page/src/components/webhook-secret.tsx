/** The secret of a webhook, which is shown once. */

import { useEffect, useRef, useState } from "preact/hooks";
import { text } from "../text";

export function WebhookSecret({ secret }: { secret: string }) {
  const t = text.webhooks.secret;
  const section = useRef<HTMLElement>(null);
  const [result, setResult] = useState("");
  // It is shown once, and the button that asked for it may be gone.
  useEffect(() => section.current?.focus(), [secret]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(secret);
      setResult(t.copied);
    } catch {
      setResult(t.notCopied);
    }
  };
  return (
    <section ref={section} class="notice warn" aria-labelledby="secret-title" tabIndex={-1}>
      <div>
        <strong id="secret-title">{t.title}</strong>
        <p>{t.body}</p>
        <p>
          <code>{secret}</code>
        </p>
        <p class="small" role="status">
          {result}
        </p>
      </div>
      <button type="button" onClick={() => void copy()}>
        {t.copy}
      </button>
    </section>
  );
}
