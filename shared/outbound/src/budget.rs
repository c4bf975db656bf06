//! A limit of the bytes that are read from a stream.
//!
//! The limits of the HTTP parser count what it keeps. They do not see what it skips: informational answers (1xx) and
//! the headers of chunks, of which a server can send any number.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The bytes that may still be read.
#[derive(Clone, Debug)]
pub(crate) struct ReadBudget(Arc<AtomicUsize>);

/// More bytes were read than the budget has.
#[derive(Debug, thiserror::Error)]
#[error("more bytes than the answer may have")]
pub(crate) struct OverBudget;

impl ReadBudget {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(bytes)))
    }

    /// Replaces the budget.
    pub(crate) fn set(&self, bytes: usize) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    fn spend(&self, bytes: usize) -> io::Result<()> {
        let left = self.0.load(Ordering::Relaxed).checked_sub(bytes);
        self.0.store(left.ok_or_else(|| io::Error::other(OverBudget))?, Ordering::Relaxed);
        Ok(())
    }
}

/// A stream whose reads spend a budget.
pub(crate) struct Metered<S> {
    inner: S,
    budget: ReadBudget,
}

impl<S> Metered<S> {
    pub(crate) fn new(inner: S, budget: ReadBudget) -> Self {
        Self { inner, budget }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        Poll::Ready(self.budget.spend(buf.filled().len() - before))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_ends_with_the_byte_after_its_last() {
        let budget = ReadBudget::new(10);
        assert!(budget.spend(4).is_ok());
        assert!(budget.spend(6).is_ok());
        assert!(budget.spend(1).unwrap_err().get_ref().is_some_and(|error| error.is::<OverBudget>()));
        budget.set(1);
        assert!(budget.spend(1).is_ok(), "a new budget");
    }
}
