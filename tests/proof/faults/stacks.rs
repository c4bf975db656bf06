//! The stacks that are broken: one test at a time has each.

use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use longshore_tests::harness::stack::{Stack, StackOptions};

use super::jobs::Outcome;

/// More than all files of these tests together, and no more than one upload may have.
pub(super) const UPLOAD_BYTES_PER_DAY: &str = "5368709120";

/// The sweeper pushes what is still for five seconds: it heals, too, and has to do it exactly. No message is received so
/// often that its rows are given up: each of them is to be accounted for by its own fate.
/// Workers have fifteen seconds, so that on a slow machine only what is late on purpose is too late. A file of several
/// megabytes is put in parts.
const PARAMETERS: [(&str, &str); 5] = [
    ("MultipartBytes", "5242880"),
    ("MaxTenantUploadBytesPerDay", UPLOAD_BYTES_PER_DAY),
    ("StallSeconds", "5"),
    ("MaxReceiveCount", "20"),
    ("WorkerTimeoutSeconds", "15"),
];

/// The stack on which functions meet faults; none on an emulator of others.
pub(crate) fn faulty() -> Option<MutexGuard<'static, Stack>> {
    static STACK: OnceLock<Mutex<Stack>> = OnceLock::new();
    let options = StackOptions { faults: true, parameters: PARAMETERS.to_vec(), ..Default::default() };
    has_own_emulator()
        .then(|| STACK.get_or_init(|| Mutex::new(start(&options))).lock().unwrap_or_else(PoisonError::into_inner))
}

/// A stack of a test's own, with these parameters beside the usual ones.
pub(crate) fn own(persists: bool, parameters: &[(&'static str, &'static str)]) -> Option<Stack> {
    let parameters = [&PARAMETERS, parameters].concat();
    has_own_emulator().then(|| start(&StackOptions { persists, parameters, ..Default::default() }))
}

/// Leaves a row about what is no call, and panics if it broke something.
pub(crate) fn tell(what: &str, count: &dyn Display, outcome: &Outcome, again: &str) {
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
