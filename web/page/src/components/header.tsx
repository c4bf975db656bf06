/** The page's header: name, navigation, colour scheme, user. */

import { hasJobTypes } from "../job-types";
import { route } from "../router";
import { personName, role, sessionState, signOut } from "../session";
import { text } from "../text";
import { currentTheme, switchTheme } from "../theme";

export function Header() {
  const { view } = route.value;
  const here = (...views: string[]) => (views.includes(view) ? "page" : undefined);
  return (
    <header>
      <div class="bar">
        <a class="brand" href="/">
          <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
            <rect width="32" height="32" rx="7" />
            <path d="M8 8v16h16M14 18v-4m5 4V10m5 8V7" />
          </svg>
          {text.app}
        </a>
        <nav aria-label={text.nav.label}>
          <a href="/" aria-current={here("import")}>
            {text.nav.import}
          </a>
          <a href="/jobs" aria-current={here("jobs", "job")}>
            {text.nav.jobs}
          </a>
          <a href="/datasets" aria-current={here("datasets", "records")}>
            {text.nav.datasets}
          </a>
          {hasJobTypes.value && (
            <a href="/types" aria-current={here("types", "type")}>
              {text.nav.types}
            </a>
          )}
          <a href="/schedules" aria-current={here("schedules", "schedule")}>
            {text.nav.schedules}
          </a>
          <a href="/webhooks" aria-current={here("webhooks", "webhook")}>
            {text.nav.webhooks}
          </a>
          {role.value && (
            <a href="/operations/jobs" aria-current={here("operations")}>
              {text.nav.operations}
            </a>
          )}
        </nav>
        <div class="person">
          <ThemeButton />
          {sessionState.value === "signed-in" && (
            <>
              <span class="quiet name">{personName.value ?? text.session.noName}</span>
              <button type="button" class="plain" onClick={() => void signOut()}>
                {text.session.signOut}
              </button>
            </>
          )}
        </div>
      </div>
    </header>
  );
}

function ThemeButton() {
  const label = currentTheme() === "dark" ? text.theme.toLight : text.theme.toDark;
  return (
    <button type="button" class="plain icon" aria-label={label} title={label} onClick={switchTheme}>
      <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
        <path d="M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9z" />
      </svg>
    </button>
  );
}
