//! A line per step: spinning while it lasts, with its duration when it is done.
//!
//! Without a terminal (CI, a pipe) nothing spins: the step is named when it starts and when it ends.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// A step that is under way. Dropped without [`Step::done`], it leaves nothing on the screen: the error speaks.
pub(crate) struct Step {
    bar: ProgressBar,
    what: String,
    started: Instant,
}

/// Starts a step; `what` is a sentence without its full stop.
pub(crate) fn step(what: &str) -> Step {
    let bar = ProgressBar::new_spinner();
    bar.set_style(style("{spinner} {msg}  {elapsed}"));
    bar.set_message(what.to_owned());
    bar.enable_steady_tick(Duration::from_millis(100));
    if bar.is_hidden() {
        eprintln!("  {what}...");
    }
    Step { bar, what: what.to_owned(), started: Instant::now() }
}

impl Step {
    /// Adds a passing detail behind the step's name.
    pub(crate) fn detail(&self, detail: &str) {
        let width = 60;
        let short: String = detail.chars().take(width).collect();
        self.bar.set_message(format!("{}: {short}", self.what));
    }

    /// Ends the step well.
    pub(crate) fn done(self) {
        self.done_with("");
    }

    /// Ends the step well and says what came of it.
    pub(crate) fn done_with(self, result: &str) {
        let seconds = self.started.elapsed().as_secs_f32();
        self.bar.finish_and_clear();
        let gap = if result.is_empty() { "" } else { ": " };
        eprintln!("✓ {}{gap}{result}  ({seconds:.1} s)", self.what);
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A bar's style; an invalid template falls back to the default one.
pub(crate) fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
