//! Progress output: one line per step, with a spinner while the step runs, and its duration at the end.
//!
//! Without a terminal (CI, a pipe) there is no spinner: one line marks the start of a step, another its end.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{Write, stderr};
use std::time::{Duration, Instant};

/// A running step. A step that is dropped without [`Step::done`] prints nothing: its error is printed instead.
pub struct Step {
    bar: ProgressBar,
    name: String,
    started: Instant,
}

/// Starts a step. `name` is a phrase such as "Building the functions".
pub fn step(name: &str) -> Step {
    let bar = ProgressBar::new_spinner();
    bar.set_style(style("{spinner} {msg}  {elapsed}"));
    bar.set_message(name.to_owned());
    bar.enable_steady_tick(Duration::from_millis(100));
    if bar.is_hidden() {
        note(&format!("  {name}..."));
    }
    Step { bar, name: name.to_owned(), started: Instant::now() }
}

/// Prints a line for the user. Ignores a closed terminal, because the command may still have to clean up.
pub fn note(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}

impl Step {
    /// Shows a temporary detail after the step's name.
    pub fn detail(&self, detail: &str) {
        let width = 60;
        let short: String = detail.chars().take(width).collect();
        self.bar.set_message(format!("{}: {short}", self.name));
    }

    /// Ends the step successfully.
    pub fn done(self) {
        self.done_with("");
    }

    /// Ends the step successfully and shows its result.
    pub fn done_with(self, result: &str) {
        let seconds = self.started.elapsed().as_secs_f32();
        self.bar.finish_and_clear();
        let separator = if result.is_empty() { "" } else { ": " };
        note(&format!("✓ {}{separator}{result}  ({seconds:.1} s)", self.name));
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The style of a bar; an invalid template falls back to the default style.
pub fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
