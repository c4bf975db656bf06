//! Fuzz targets: functions of arbitrary bytes that panic if an invariant is violated.
//!
//! `cargo xtask fuzz` searches for violations; a plain test run runs each target once over its committed corpus.
//!
//! | target | input |
//! | --- | --- |
//! | `splitter` | a file, and the blocks in which it arrives |
//! | `rows` | a record, its columns, and a corrected file |
//! | `messages` | queue messages and stored records |
//! | `requests` | a request to the HTTP API |
//! | `images` | an image to be resized |
//! | `preparation` | a workbook, an archive, or text in UTF-16 |

mod images;
mod messages;
mod oracle;
mod preparation;
mod requests;
mod rows;
mod splitter;

/// The environment variable that names the target of libFuzzer's binary.
pub const VARIABLE: &str = "LONGSHORE_FUZZ_TARGET";

/// A fuzz target.
#[derive(Copy, Clone, Debug)]
pub struct Target {
    /// Name of the target and of its corpus.
    pub name: &'static str,
    /// Checks the invariants for an input.
    ///
    /// # Panics
    /// If one is violated.
    pub call: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [Target; 6] = [
    Target { name: "splitter", call: splitter::check },
    Target { name: "rows", call: rows::check },
    Target { name: "messages", call: messages::check },
    Target { name: "requests", call: requests::check },
    Target { name: "images", call: images::check },
    Target { name: "preparation", call: preparation::check },
];

/// Returns the target of this name.
#[must_use]
pub fn target(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|target| target.name == name)
}
