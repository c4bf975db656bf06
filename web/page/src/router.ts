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
  | { view: "operations"; part: OperationsPart }
  | { view: "unknown" };

/** The parts of the operators' view, in the order of its navigation. */
export const OPERATIONS_PARTS = [
  "jobs",
  "failures",
  "queues",
  "handlers",
  "pauses",
  "dead-letters",
  "webhooks",
  "log",
] as const;

export type OperationsPart = (typeof OPERATIONS_PARTS)[number];

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
  if (first === "operations") return operations(second ?? "jobs");
  return { view: "unknown" };
}

function operations(name: string): Route {
  const part = OPERATIONS_PARTS.find((part) => part === name);
  return part ? { view: "operations", part } : { view: "unknown" };
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

/** The query string of the current address, with its question mark. Views keep their filters in it. */
export const search = signal(location.search);

function show(): void {
  path = location.pathname;
  search.value = location.search;
  route.value = parseRoute(path);
}

/**
 * Replaces the query string. The view stays, and with it the focus; the back button returns to the previous query. An
 * unchanged query is no step of the history: a field reports its value at Enter, and again when it is left.
 */
export function goToQuery(query: URLSearchParams): void {
  const text = query.toString();
  if (text === new URLSearchParams(location.search).toString()) return;
  history.pushState(null, "", text ? `${location.pathname}?${text}` : location.pathname);
  search.value = location.search;
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
    else search.value = location.search;
  });
  addEventListener("click", (event) => {
    const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!plain || !link || link.origin !== location.origin || link.target || link.hasAttribute("download"))
      return;
    if (/^\/(api|assets)\//.test(link.pathname) || link.hash) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}
