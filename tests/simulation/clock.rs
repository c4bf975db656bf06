//! The clock of a run, which only the run advances, and the step in which other functions run.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};

use longshore_domain::time_stamp::Timestamp;

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

/// A future that is pending once.
pub(crate) struct Step(pub(crate) bool);

impl Future for Step {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // Woken immediately: a collection of futures polls only those that were woken.
        context.waker().wake_by_ref();
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}
