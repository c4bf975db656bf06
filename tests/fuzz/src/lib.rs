//! What the fuzzer calls: for each target a function that takes any bytes, and panics if a promise is broken.
//!
//! `cargo xtask fuzz` seeks bytes that break one; a plain test run gives every target its seeds and its packed corpus.
//!
//! | target | the bytes are |
//! | --- | --- |
//! | `splitter` | a file, and the blocks in which it arrives |
//! | `rows` | a record, its columns, and a corrected file |
//! | `messages` | what travels in queues and lies in files |
//! | `requests` | a call of the HTTP API |

mod messages;
mod oracle;
mod requests;
mod rows;
mod splitter;
mod world;

/// The environment variable that tells libFuzzer's binary its target.
pub const VARIABLE: &str = "LONGSHORE_FUZZ_TARGET";

/// A target.
#[derive(Copy, Clone, Debug)]
pub struct Target {
    /// Its name, and that of its corpus.
    pub name: &'static str,
    /// Holds the promises against an input.
    ///
    /// # Panics
    /// If one is broken.
    pub call: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [Target; 4] = [
    Target { name: "splitter", call: splitter::check },
    Target { name: "rows", call: rows::check },
    Target { name: "messages", call: messages::check },
    Target { name: "requests", call: requests::check },
];

/// The target of this name.
#[must_use]
pub fn target(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|target| target.name == name)
}
