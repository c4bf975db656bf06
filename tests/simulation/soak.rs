//! Millions of seeds. A violation is reported and does not end the run. Progress is reported every second.
//!
//! A line `soak DONE NEXT VIOLATIONS` is for `cargo xtask sim --soak`: every seed before NEXT is done.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::run::run;
use crate::trace::Voice;

/// Interval of the progress reports.
const EVERY: Duration = Duration::from_secs(1);

/// Seeds from `next` to `end`, of which some are running.
struct Course {
    next: u64,
    end: u64,
    under_way: BTreeSet<u64>,
    done: u64,
    violations: u64,
    reported_at: Instant,
}

impl Course {
    fn of(from: u64, count: u64) -> Self {
        let under_way = BTreeSet::new();
        Self { next: from, end: from + count, under_way, done: 0, violations: 0, reported_at: Instant::now() }
    }

    fn take(&mut self) -> Option<u64> {
        let seed = self.next;
        self.next += u64::from(seed < self.end);
        (seed < self.end && self.under_way.insert(seed)).then_some(seed)
    }

    fn end(&mut self, seed: u64, violation: Option<&str>) {
        self.under_way.remove(&seed);
        self.done += 1;
        if let Some(violation) = violation {
            self.violations += 1;
            println!("seed {seed}: {}", violation.lines().next().unwrap_or_default());
        }
    }

    /// The first seed that is not done.
    fn reached(&self) -> u64 {
        self.under_way.first().copied().unwrap_or(self.next)
    }

    fn described(&self) -> String {
        format!("soak {} {} {}", self.done, self.reached(), self.violations)
    }
}

/// Runs `count` seeds on all processors. Returns the number of seeds with a violation.
pub(crate) fn soak(from: u64, count: u64, taken_out: Option<&str>) -> u64 {
    let course = Mutex::new(Course::of(from, count));
    let work = || {
        loop {
            let Some(seed) = course.lock().unwrap().take() else { return };
            let violation = run(seed, taken_out, Voice::Silent).err();
            let mut course = course.lock().unwrap();
            course.end(seed, violation.as_deref());
            if course.reported_at.elapsed() >= EVERY {
                course.reported_at = Instant::now();
                println!("{}", course.described());
            }
        }
    };
    thread::scope(|scope| {
        (0..thread::available_parallelism().map_or(1, usize::from)).for_each(|_| {
            scope.spawn(work);
        })
    });
    let course = course.into_inner().unwrap();
    println!("{}", course.described());
    course.violations
}

#[test]
fn a_soak_resumes_at_the_first_seed_that_is_not_done() {
    let mut course = Course::of(7, 3);
    assert_eq!([course.take(), course.take()], [Some(7), Some(8)]);
    course.end(8, Some("a violation\nmore of it"));
    assert_eq!(course.described(), "soak 1 7 1");
    course.end(7, None);
    assert_eq!(course.described(), "soak 2 9 1");
    assert_eq!((course.take(), course.take()), (Some(9), None));
    course.end(9, None);
    assert_eq!(course.described(), "soak 3 10 1");
}
