//! Ctrl-C, a closed terminal or a request to terminate: stops the test processes, but not this one, which reports the
//! results.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use local_cloud::process::terminate_group;

/// Signals that are caught, from construction on.
pub(super) struct Caught(Signals);

/// A flag that is set once a signal has arrived.
pub(super) struct Stopped(Arc<AtomicBool>);

impl Caught {
    pub(super) fn new() -> Result<Self> {
        Ok(Self(Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot catch signals")?))
    }

    /// Terminates this process group at each signal, including earlier ones. Ctrl-C does not reach the group by
    /// itself.
    pub(super) fn stop(mut self, group: u32) -> Stopped {
        let stopped = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stopped);
        thread::spawn(move || {
            for _ in self.0.forever() {
                flag.store(true, Ordering::Relaxed);
                // If it fails, the group ends when nothing reads its output.
                let _ = terminate_group(group);
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
