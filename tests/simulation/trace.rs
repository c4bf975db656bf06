//! The trace of a run, line by line, hashed or printed on request.

use std::cell::{Cell, RefCell};
use std::collections::hash_map::DefaultHasher;
use std::fmt::Arguments;
use std::hash::{Hash, Hasher};

use crate::clock::true_time;

/// Destination of the lines. Formatting them takes a tenth of a run's time.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum TraceMode {
    Off,
    Hashed,
    Printed,
}

struct Trace {
    /// A hasher without a key, so the hash is the same in every run of one build.
    hash: DefaultHasher,
    lines: u64,
    trace_mode: TraceMode,
}

thread_local! {
    static TRACE: RefCell<Option<Trace>> = const { RefCell::new(None) };
    static FUNCTION: Cell<(&'static str, u64)> = const { Cell::new(("world", 0)) };
}

/// Begins a run.
pub(crate) fn begin(trace_mode: TraceMode) {
    set_function("world", 0);
    let trace = Trace { hash: DefaultHasher::new(), lines: 0, trace_mode };
    TRACE.set(Some(trace).filter(|_| trace_mode != TraceMode::Off));
}

/// Returns true if the lines are hashed or printed.
pub(crate) fn is_on() -> bool {
    TRACE.with_borrow(Option::is_some)
}

/// Sets the function of the following lines: its name and number.
pub(crate) fn set_function(name: &'static str, number: u64) {
    FUNCTION.set((name, number));
}

/// Name of the current function.
pub(crate) fn function_name() -> &'static str {
    FUNCTION.get().0
}

/// Number of the current function. A later function has a greater number.
pub(crate) fn function_number() -> u64 {
    FUNCTION.get().1
}

/// Appends an event to the trace.
pub(crate) fn append(event: Arguments<'_>) {
    TRACE.with_borrow_mut(|trace| {
        let Some(trace) = trace else { return };
        let (name, number) = FUNCTION.get();
        let line = format!("{:>9} {name:>8}-{number:<3} {event}", true_time().0);
        line.hash(&mut trace.hash);
        trace.lines += 1;
        if trace.trace_mode == TraceMode::Printed {
            println!("{line}");
        }
    });
}

/// Number of lines so far, and the hash of all of them.
pub(crate) fn digest() -> (u64, u64) {
    TRACE.with_borrow(|trace| trace.as_ref().map_or((0, 0), |trace| (trace.lines, trace.hash.finish())))
}
