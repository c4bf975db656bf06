//! Proof on the emulator: the real template and the real binaries under faults, over nasty files, and under load.
//!
//! Afterwards counts, report and records are compared with the input, row by row. A test run has time for a reduced set
//! of each; `cargo xtask prove` runs all of it and makes a table of the figures.

mod corpus;
mod faults;
mod load;
mod release;
mod sample;
