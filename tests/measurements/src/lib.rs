//! Measurements that tests record for the tables of `cargo xtask prove`.
//!
//! A test records a measurement by [`row`]. A plain test run drops it. `cargo xtask prove` sets [`FOLDER`] to a folder,
//! and makes a table from each file in it.

mod conditions;
mod record;

pub use conditions::{CONDITIONS, LAYERS, LINKS};
pub use record::{row, skipped};

/// Environment variable with the folder for measurements.
pub const FOLDER: &str = "LONGSHORE_FIGURES";

/// Environment variable with the file that gets a line for each test that was skipped or repeated; see [`skipped`].
pub const NOTES: &str = "LONGSHORE_TEST_NOTES";

/// Environment variable with a binary that replaces the tests' own functions that run job types.
pub const PROBE: &str = "LONGSHORE_PROBE";

/// Environment variable with the folder of a package of the release, which is deployed as it is.
pub const PACKAGE: &str = "LONGSHORE_PACKAGE";

/// Environment variable with the folder of the functions of the previous release, a NAME/bootstrap for each.
pub const PREVIOUS_RELEASE: &str = "LONGSHORE_PREVIOUS_RELEASE";

/// Environment variable with the name of that release.
pub const PREVIOUS_RELEASE_NAME: &str = "LONGSHORE_PREVIOUS_RELEASE_NAME";

/// Environment variable with the condition, the layer or the link to remove (`cargo xtask prove --without`).
pub const WITHOUT: &str = "LONGSHORE_WITHOUT";

/// Returns true if the complete set of tests runs (`cargo xtask prove`), not the reduced set of a plain test run.
#[must_use]
pub fn is_complete_run() -> bool {
    std::env::var_os(FOLDER).is_some()
}

/// Returns the condition, the layer or the link that is removed in this run, if there is one.
#[must_use]
pub fn without() -> Option<String> {
    std::env::var(WITHOUT).ok().filter(|name| !name.is_empty())
}
