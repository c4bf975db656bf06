//! Functions of a small simulation: futures that are polled one step at a time, in any order, and can be dropped.

use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// A function that is under way.
pub(crate) type Task<T> = Pin<Box<dyn Future<Output = T>>>;

/// Runs a function for one step. Returns its result if it has ended.
pub(crate) fn poll<T>(task: &mut Task<T>) -> Option<T> {
    match task.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}

/// Runs a future to its end.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return result;
        }
    }
}
