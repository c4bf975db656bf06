//! Waits on the simulated clock. A task that waits says until when; a task that takes a step waits for a call's latency.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use longshore_domain::timestamp::Timestamp;

use crate::clock::{CLOCK, SKEW, true_time};
use crate::rng::Rng;

thread_local! {
    /// The earliest time for which the polled task waits.
    static DUE: Cell<Timestamp> = const { Cell::new(Timestamp(i64::MAX)) };
}

/// A future that is ready at a time.
pub(super) struct Until(Timestamp);

/// Waits until this time of the running function's clock.
pub(super) fn until(time: Timestamp) -> Until {
    Until(Timestamp(time.0 - SKEW.get()))
}

impl Future for Until {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if true_time() >= self.0 {
            return Poll::Ready(());
        }
        DUE.set(DUE.get().min(self.0));
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// A function that runs.
pub(super) struct Task<T> {
    future: Pin<Box<dyn Future<Output = T>>>,
    /// Error of its clock in milliseconds.
    skew_ms: i64,
    /// Time of its next step.
    pub(super) due: Timestamp,
}

impl<T> Task<T> {
    pub(super) fn new(skew_ms: i64, future: impl Future<Output = T> + 'static) -> Self {
        Self { future: Box::pin(future), skew_ms, due: true_time() }
    }

    /// Runs until the task waits. Returns its result at its end.
    pub(super) fn run(&mut self, rng: &mut Rng) -> Option<T> {
        SKEW.set(self.skew_ms);
        DUE.set(Timestamp(i64::MAX));
        let polled = self.future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        SKEW.set(0);
        match polled {
            Poll::Ready(result) => return Some(result),
            Poll::Pending if DUE.get().0 == i64::MAX => self.due = Timestamp(CLOCK.get() + half_latency_ms(rng)),
            Poll::Pending => self.due = DUE.get(),
        }
        None
    }
}

/// Half of the time of a service's call: seldom more than three milliseconds.
fn half_latency_ms(rng: &mut Rng) -> i64 {
    if rng.often(5) { rng.between(5, 40) } else { rng.between(1, 3) }
}
