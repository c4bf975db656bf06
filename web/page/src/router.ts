/** Which view the address names. Links are plain `<a href>`: a click on one is taken here, and needs no reload. */

import { signal } from "@preact/signals";

/** A view and what of its address it needs. */
export type Route =
  | { view: "import" }
  | { view: "jobs" }
  | { view: "job"; jobId: string }
  | { view: "datasets" }
  | { view: "records"; dataset: string }
  | { view: "unknown" };

/** Reads a path such as `/jobs/0198…`. */
export function parseRoute(path: string): Route {
  const [first = "", second, ...rest] = path.split("/").filter(Boolean).map(decode);
  if (rest.length > 0) return { view: "unknown" };
  if (first === "") return { view: "import" };
  if (first === "jobs") return second ? { view: "job", jobId: second } : { view: "jobs" };
  if (first === "datasets") return second ? { view: "records", dataset: second } : { view: "datasets" };
  return { view: "unknown" };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The path of the view that is shown. */
let path = location.pathname;

/** The view that is shown. */
export const route = signal<Route>(parseRoute(path));

function show(): void {
  path = location.pathname;
  route.value = parseRoute(path);
}

/** Goes to a path of the page. */
export function go(path: string, how: "push" | "replace" = "push"): void {
  if (how === "push") history.pushState(null, "", path);
  else history.replaceState(null, "", path);
  show();
  window.scrollTo(0, 0);
}

/** Follows the browser's own buttons, and clicks on links to this page. */
export function listen(): void {
  addEventListener("popstate", () => {
    // A fragment, as that of the link to the content, is a place in the same view.
    if (location.pathname !== path) show();
  });
  addEventListener("click", (event) => {
    const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!plain || !link || link.origin !== location.origin || link.target || link.hasAttribute("download"))
      return;
    if (link.pathname.startsWith("/api/") || link.hash) return;
    event.preventDefault();
    go(link.pathname);
  });
}
