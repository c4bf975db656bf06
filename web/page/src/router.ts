/** The router. Links are plain `<a href>`; clicks on them switch the view without a reload. */

import { signal } from "@preact/signals";

/** A view and its parameters. */
export type Route =
  | { view: "import" }
  | { view: "jobs" }
  | { view: "job"; jobId: string }
  | { view: "datasets" }
  | { view: "records"; dataset: string }
  | { view: "types" }
  | { view: "type"; name: string }
  | { view: "schedules" }
  | { view: "schedule"; scheduleId: string }
  | { view: "webhooks" }
  | { view: "webhook"; webhookId: string }
  | { view: "unknown" };

/** Parses a path such as `/jobs/0198…`. */
export function parseRoute(path: string): Route {
  const [first = "", second, ...rest] = path.split("/").filter(Boolean).map(decode);
  if (rest.length > 0) return { view: "unknown" };
  if (first === "") return { view: "import" };
  if (first === "jobs") return second ? { view: "job", jobId: second } : { view: "jobs" };
  if (first === "datasets") return second ? { view: "records", dataset: second } : { view: "datasets" };
  if (first === "types") return second ? { view: "type", name: second } : { view: "types" };
  if (first === "schedules") return second ? { view: "schedule", scheduleId: second } : { view: "schedules" };
  if (first === "webhooks") return second ? { view: "webhook", webhookId: second } : { view: "webhooks" };
  return { view: "unknown" };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The current path. */
let path = location.pathname;

/** The current view. */
export const route = signal<Route>(parseRoute(path));

function show(): void {
  path = location.pathname;
  route.value = parseRoute(path);
}

/** Navigates to a path of the page. */
export function go(path: string, how: "push" | "replace" = "push"): void {
  if (how === "push") history.pushState(null, "", path);
  else history.replaceState(null, "", path);
  show();
  window.scrollTo(0, 0);
}

/** Handles the browser's back and forward buttons, and clicks on links to this page. */
export function listen(): void {
  addEventListener("popstate", () => {
    // A fragment, such as the skip link's, does not change the view.
    if (location.pathname !== path) show();
  });
  addEventListener("click", (event) => {
    const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!plain || !link || link.origin !== location.origin || link.target || link.hasAttribute("download"))
      return;
    if (/^\/(api|assets)\//.test(link.pathname) || link.hash) return;
    event.preventDefault();
    go(link.pathname);
  });
}
