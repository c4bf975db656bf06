//! Stacks for tests with faults. One test uses a stack at a time.

use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use longshore_tests::harness::stack::{Stack, StackOptions};

use super::jobs::{Outcome, UPLOAD_BYTES_PER_DAY};

/// The sweeper pushes jobs without progress after five seconds, because it is part of the tested recovery. No message
/// is dead-lettered, because each row must have its own expected outcome. Workers have fifteen seconds, so that only
/// deliberate delays exceed their timeout on a slow machine. A file of several megabytes is uploaded in parts.
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

/// Starts a stack for one test, with these additional parameters.
pub(crate) fn own(parameters: &[(&'static str, &'static str)]) -> Option<Stack> {
    let parameters = [&PARAMETERS, parameters].concat();
    has_own_emulator().then(|| start(&StackOptions { parameters, ..Default::default() }))
}

/// Starts a stack for one test. It keeps its state when its emulator is restarted.
pub(crate) fn own_restartable() -> Option<Stack> {
    let options = StackOptions { persists: true, parameters: PARAMETERS.to_vec(), ..Default::default() };
    has_own_emulator().then(|| start(&options))
}

/// Records a row about a fault other than those of calls. Panics if there is a violation.
pub(crate) fn record_outcome(fault: &str, count: &dyn Display, outcome: &Outcome, command: &str) {
    measurements::row(
        "faults-other",
        &[
            ("what", &fault),
            ("count", count),
            ("jobs", &outcome.jobs),
            ("rows compared", &outcome.rows),
            ("violations", &outcome.violations.len()),
        ],
    );
    outcome.assert_clean(command);
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
