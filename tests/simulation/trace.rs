//! Trace of a run, line by line, hashed or printed on request.

use std::cell::{Cell, RefCell};
use std::collections::hash_map::DefaultHasher;
use std::fmt::Arguments;
use std::hash::{Hash, Hasher};

use super::world::true_time;

/// Destination of the lines. Building them takes a tenth of a run's time.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Voice {
    Silent,
    Hashed,
    Loud,
}

struct Trace {
    /// A hasher without a key, so the hash is the same in every run of one build.
    hash: DefaultHasher,
    lines: u64,
    voice: Voice,
}

thread_local! {
    static TRACE: RefCell<Option<Trace>> = const { RefCell::new(None) };
    static SPEAKER: Cell<(&'static str, u64)> = const { Cell::new(("world", 0)) };
}

/// Begins a run.
pub(crate) fn begin(voice: Voice) {
    speaker("world", 0);
    let trace = Trace { hash: DefaultHasher::new(), lines: 0, voice };
    TRACE.set(Some(trace).filter(|_| voice != Voice::Silent));
}

/// Returns true if the lines are hashed or printed.
pub(crate) fn is_heard() -> bool {
    TRACE.with_borrow(Option::is_some)
}

/// Sets the function of the following lines: its name and number.
pub(crate) fn speaker(name: &'static str, number: u64) {
    SPEAKER.set((name, number));
}

/// Number of the current function. A later function has a greater number.
pub(crate) fn speaking() -> u64 {
    SPEAKER.get().1
}

/// Appends an event to the trace.
pub(crate) fn say(what: Arguments<'_>) {
    TRACE.with_borrow_mut(|trace| {
        let Some(trace) = trace else { return };
        let (name, number) = SPEAKER.get();
        let line = format!("{:>9} {name:>8}-{number:<3} {what}", true_time().0);
        line.hash(&mut trace.hash);
        trace.lines += 1;
        if trace.voice == Voice::Loud {
            println!("{line}");
        }
    });
}

/// Number of lines so far, and the hash of all of them.
pub(crate) fn digest() -> (u64, u64) {
    TRACE.with_borrow(|trace| trace.as_ref().map_or((0, 0), |trace| (trace.lines, trace.hash.finish())))
}
