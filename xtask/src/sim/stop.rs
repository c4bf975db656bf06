//! Ctrl-C, a closed terminal or a request to end: stops the processes that work, and not the one that tells what they did.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::process::signal_group;

/// Signals that are caught, from when this is made.
pub(super) struct Caught(Signals);

/// Set once a signal came.
pub(super) struct Stopped(Arc<AtomicBool>);

impl Caught {
    pub(super) fn new() -> Result<Self> {
        Ok(Self(Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot catch signals")?))
    }

    /// Ends this group of processes at each signal, also at those that came before. Ctrl-C does not reach it by itself.
    pub(super) fn stop(mut self, group: u32) -> Stopped {
        let stopped = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stopped);
        thread::spawn(move || {
            for _ in self.0.forever() {
                flag.store(true, Ordering::Relaxed);
                // It can only fail where there is no shell; then the group ends when nobody reads its output.
                let _ = signal_group("TERM", group);
            }
        });
        Stopped(stopped)
    }
}

impl Stopped {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
