//! Stops the test processes at Ctrl-C, SIGTERM or a closed terminal. This process continues and reports the results.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use local_cloud::process::terminate_group;

/// Catches the signals from its construction on.
pub(super) struct SignalHandler(Signals);

/// A flag that is set by the first signal.
pub(super) struct Stopped(Arc<AtomicBool>);

impl SignalHandler {
    pub(super) fn new() -> Result<Self> {
        Ok(Self(Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot catch signals")?))
    }

    /// Terminates the process group at each signal, including signals since construction. Ctrl-C itself does not reach
    /// the group.
    pub(super) fn stop_on_signal(mut self, group: u32) -> Stopped {
        let stopped = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stopped);
        thread::spawn(move || {
            for _ in self.0.forever() {
                flag.store(true, Ordering::Relaxed);
                // If this fails, the group ends once its output is closed.
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
