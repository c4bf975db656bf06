//! The clock of a run, which only the run advances, and the step during which other functions run.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};

use longshore_domain::timestamp::Timestamp;

thread_local! {
    /// Milliseconds since the epoch.
    pub(crate) static CLOCK: Cell<i64> = const { Cell::new(0) };
    /// Error of the running function's clock, in milliseconds.
    pub(crate) static SKEW: Cell<i64> = const { Cell::new(0) };
}

/// The time by the clock of the running function, with its error.
pub(crate) fn clock() -> Timestamp {
    Timestamp(CLOCK.get() + SKEW.get())
}

/// The exact time.
pub(crate) fn true_time() -> Timestamp {
    Timestamp(CLOCK.get())
}

/// Lets other functions run once.
pub(crate) fn step() -> Step {
    Step { is_over: false }
}

/// A future that is pending once.
pub(crate) struct Step {
    is_over: bool,
}

impl Future for Step {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // The task is woken immediately, because a collection of futures polls only those that were woken.
        context.waker().wake_by_ref();
        if std::mem::replace(&mut self.is_over, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}
