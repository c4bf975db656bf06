//! Verification on the emulator: the real template and the real binaries under faults, with malformed files, and under load.
//!
//! Afterwards counts, report and records are compared with the input, row by row. A plain test run uses reduced sets.
//! `cargo xtask prove` runs the complete sets, and writes a table of the measurements.

mod corpus;
mod faults;
mod load;
mod release;
mod sample;
