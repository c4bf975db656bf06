//! Progress output: one line per step, with a spinner while the step runs, and its duration at the end.
//!
//! Without a terminal (CI, a pipe) there is no spinner: one line marks the start of a step, another its end.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{Write, stderr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The bar that is shown.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

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

/// Prints a line for the user, above the bar that is shown. Ignores a closed terminal, because the command may still
/// have to clean up.
pub fn note(line: &str) {
    let print = || {
        let _ = writeln!(stderr(), "{line}");
    };
    let bar = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match bar {
        Some(bar) => bar.suspend(print),
        None => print(),
    }
}

/// A bar that is shown until this value is dropped. The lines of [`note`] do not cut through it.
pub(crate) struct Shown;

impl Shown {
    pub(crate) fn new(bar: &ProgressBar) -> Self {
        Self::set(Some(bar.clone()));
        Self
    }

    fn set(bar: Option<ProgressBar>) {
        *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = bar;
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        Self::set(None);
    }
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

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use indicatif::{ProgressDrawTarget, TermLike};

    use super::*;

    /// A terminal that counts how often it is drawn.
    #[derive(Debug)]
    struct Terminal(Arc<AtomicUsize>);

    impl TermLike for Terminal {
        fn width(&self) -> u16 {
            80
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, _: &str) -> io::Result<()> {
            Ok(())
        }

        fn write_str(&self, _: &str) -> io::Result<()> {
            Ok(())
        }

        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    }

    #[test]
    fn a_bar_is_removed_for_a_line_and_drawn_again() {
        let draws = Arc::new(AtomicUsize::new(0));
        let target = ProgressDrawTarget::term_like(Box::new(Terminal(Arc::clone(&draws))));
        let bar = ProgressBar::with_draw_target(Some(5), target);
        let draws_of_a_line = || {
            let before = draws.load(Ordering::Relaxed);
            note("a line of a test");
            draws.load(Ordering::Relaxed) - before
        };
        let shown = Shown::new(&bar);
        assert!(draws_of_a_line() > 0, "the bar stays, and the line is written into it");
        drop(shown);
        assert_eq!(draws_of_a_line(), 0);
    }
}
