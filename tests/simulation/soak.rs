//! Millions of seeds. A violation is reported, and does not end the run. Progress is reported every second.
//!
//! `cargo xtask sim --soak` reads the lines `soak DONE NEXT VIOLATIONS`. Every seed before NEXT is done.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::run::run;
use crate::trace::TraceMode;

/// Interval of the progress reports.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// Progress of a soak: the seeds from `next` to `end` have not begun.
struct Progress {
    next: u64,
    end: u64,
    running: BTreeSet<u64>,
    done: u64,
    violations: u64,
    reported_at: Instant,
}

impl Progress {
    fn new(from: u64, count: u64) -> Self {
        let running = BTreeSet::new();
        Self { next: from, end: from + count, running, done: 0, violations: 0, reported_at: Instant::now() }
    }

    fn take(&mut self) -> Option<u64> {
        let seed = self.next;
        self.next += u64::from(seed < self.end);
        (seed < self.end && self.running.insert(seed)).then_some(seed)
    }

    fn end(&mut self, seed: u64, violation: Option<&str>) {
        self.running.remove(&seed);
        self.done += 1;
        if let Some(violation) = violation {
            self.violations += 1;
            println!("seed {seed}: {}", violation.lines().next().unwrap_or_default());
        }
    }

    /// The first seed that is not done.
    fn first_not_done(&self) -> u64 {
        self.running.first().copied().unwrap_or(self.next)
    }

    fn describe(&self) -> String {
        format!("soak {} {} {}", self.done, self.first_not_done(), self.violations)
    }
}

/// Runs `count` seeds on all processors. Returns the number of seeds with a violation.
pub(crate) fn soak(from: u64, count: u64, removed_condition: Option<&str>) -> u64 {
    let progress = Mutex::new(Progress::new(from, count));
    let work = || {
        loop {
            let Some(seed) = progress.lock().unwrap().take() else { return };
            let violation = run(seed, removed_condition, TraceMode::Off).err();
            let mut progress = progress.lock().unwrap();
            progress.end(seed, violation.as_deref());
            if progress.reported_at.elapsed() >= REPORT_INTERVAL {
                progress.reported_at = Instant::now();
                println!("{}", progress.describe());
            }
        }
    };
    thread::scope(|scope| {
        (0..thread::available_parallelism().map_or(1, usize::from)).for_each(|_| {
            scope.spawn(work);
        })
    });
    let progress = progress.into_inner().unwrap();
    println!("{}", progress.describe());
    progress.violations
}

#[test]
fn a_soak_resumes_at_the_first_seed_that_is_not_done() {
    let mut progress = Progress::new(7, 3);
    assert_eq!([progress.take(), progress.take()], [Some(7), Some(8)]);
    progress.end(8, Some("a violation\ndetails"));
    assert_eq!(progress.describe(), "soak 1 7 1");
    progress.end(7, None);
    assert_eq!(progress.describe(), "soak 2 9 1");
    assert_eq!((progress.take(), progress.take()), (Some(9), None));
    progress.end(9, None);
    assert_eq!(progress.describe(), "soak 3 10 1");
}
