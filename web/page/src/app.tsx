/** The frame of every view: header, sign-in, and the view of the current address. */

import { useEffect, useRef, useState } from "preact/hooks";
import { announcement } from "./accessibility";
import { Header } from "./components/header";
import { listen, type Route, route } from "./router";
import { sessionState, startSession } from "./session";
import { text } from "./text";
import { DatasetsView } from "./views/datasets";
import { ImportView } from "./views/import";
import { JobView } from "./views/job";
import { JobsView } from "./views/jobs";
import { NotFound } from "./views/not-found";
import { OperationsView } from "./views/operations";
import { RecordsView } from "./views/records";
import { ScheduleView } from "./views/schedule";
import { SchedulesView } from "./views/schedules";
import { SessionEnded, SignInView } from "./views/sign-in";
import { TypeView } from "./views/type";
import { TypesView } from "./views/types";
import { WebhookView } from "./views/webhook";
import { WebhooksView } from "./views/webhooks";

export function App() {
  useEffect(() => {
    listen();
    void startSession();
  }, []);
  const main = useRef<HTMLElement>(null);
  const shown = useRef(route.value);
  useEffect(() => {
    document.title = `${titleOf(route.value)} - ${text.app}`;
    // After a click on a link the keyboard continues in the new view.
    if (shown.current !== route.value) main.current?.focus();
    shown.current = route.value;
  }, [route.value]);
  return (
    <>
      <a class="skip" href="#main">
        {text.skip}
      </a>
      <Header />
      <main id="main" ref={main} tabIndex={-1}>
        <Offline />
        <View />
      </main>
      <p class="visually-hidden" aria-live="polite">
        {announcement}
      </p>
    </>
  );
}

/** Returns the title of a view, which is the first that a screen reader reads of it. */
function titleOf(to: Route): string {
  return to.view === "operations" ? text.operations.titleOf(to.part) : text.titles[to.view];
}

function View() {
  const state = sessionState.value;
  // A view stays when the session ends, to keep the user's input.
  const isStarted = useRef(false);
  isStarted.current = state === "signed-in" || state === "open" || (isStarted.current && state === "expired");
  if (isStarted.current) {
    return (
      <>
        {state === "expired" && <SessionEnded />}
        <Routed />
      </>
    );
  }
  if (state === "loading") return <p class="quiet">{text.loading}</p>;
  if (state === "unreachable") {
    return (
      <div class="notice bad" role="alert">
        <p>{text.unreachable}</p>
        <button type="button" onClick={() => void startSession()}>
          {text.tryAgain}
        </button>
      </div>
    );
  }
  return <SignInView expired={state === "expired"} />;
}

function Routed() {
  const to = route.value;
  switch (to.view) {
    case "import":
      return <ImportView />;
    case "jobs":
      return <JobsView />;
    case "job":
      return <JobView key={to.jobId} jobId={to.jobId} />;
    case "datasets":
      return <DatasetsView />;
    case "records":
      return <RecordsView key={to.dataset} dataset={to.dataset} />;
    case "types":
      return <TypesView />;
    case "type":
      return <TypeView key={to.name} name={to.name} />;
    case "schedules":
      return <SchedulesView />;
    case "schedule":
      return <ScheduleView key={to.scheduleId} scheduleId={to.scheduleId} />;
    case "webhooks":
      return <WebhooksView />;
    case "webhook":
      return <WebhookView key={to.webhookId} webhookId={to.webhookId} />;
    case "operations":
      return <OperationsView part={to.part} />;
    case "unknown":
      return <NotFound />;
  }
}

function Offline() {
  const [online, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const update = () => setOnline(navigator.onLine);
    addEventListener("online", update);
    addEventListener("offline", update);
    return () => {
      removeEventListener("online", update);
      removeEventListener("offline", update);
    };
  }, []);
  return <div role="status">{!online && <p class="notice warn">{text.offline}</p>}</div>;
}
