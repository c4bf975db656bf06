//! Stacks for tests with faults: one test uses a stack at a time.

use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use longshore_tests::harness::stack::{Stack, StackOptions};

use super::jobs::{Outcome, UPLOAD_BYTES_PER_DAY};

/// The sweeper pushes jobs without progress after five seconds: it is part of the recovery that is tested. No message
/// is received so often that its rows are given up: each row must have its own expected outcome. Workers have fifteen
/// seconds, so that on a slow machine only deliberate delays are too late. A file of several megabytes is uploaded in
/// parts.
const PARAMETERS: [(&str, &str); 5] = [
    ("MultipartBytes", "5242880"),
    ("MaxTenantUploadBytesPerDay", UPLOAD_BYTES_PER_DAY),
    ("StallSeconds", "5"),
    ("MaxReceiveCount", "20"),
    ("WorkerTimeoutSeconds", "15"),
];

/// The stack with fault injection. `None` on an emulator that this process did not start.
pub(crate) fn faulty() -> Option<MutexGuard<'static, Stack>> {
    static STACK: OnceLock<Mutex<Stack>> = OnceLock::new();
    let options = StackOptions { faults: true, parameters: PARAMETERS.to_vec(), ..Default::default() };
    has_own_emulator()
        .then(|| STACK.get_or_init(|| Mutex::new(start(&options))).lock().unwrap_or_else(PoisonError::into_inner))
}

/// Starts a stack for one test, with these parameters beside the usual ones.
pub(crate) fn own(persists: bool, parameters: &[(&'static str, &'static str)]) -> Option<Stack> {
    let parameters = [&PARAMETERS, parameters].concat();
    has_own_emulator().then(|| start(&StackOptions { persists, parameters, ..Default::default() }))
}

/// Records a row about faults other than those of calls, and panics on a violation.
pub(crate) fn record_outcome(what: &str, count: &dyn Display, outcome: &Outcome, again: &str) {
    measurements::row(
        "faults-other",
        &[
            ("what", &what),
            ("count", count),
            ("jobs", &outcome.jobs),
            ("rows compared", &outcome.rows),
            ("violations", &outcome.violations.len()),
        ],
    );
    outcome.must_be_clean(again);
}

fn has_own_emulator() -> bool {
    let own = std::env::var_os("LONGSHORE_ENDPOINT").is_none();
    if !own {
        measurements::skipped("it needs an emulator of its own");
    }
    own
}

fn start(options: &StackOptions) -> Stack {
    Stack::start(options).unwrap_or_else(|error| panic!("the stack does not start: {error:?}"))
}
