//! Commands that create a job and wait for its end.
//!
//! | file | contains |
//! | --- | --- |
//! | `import` | `import`: a file, or standard input, into a dataset |
//! | `export` | `export`: a dataset to a file, or to standard output |
//! | `run` | `run`: a job of any type |
//! | `upload` | the upload of a file, with a bar |
//! | `options` | values of options: JSON, pairs, durations |
//! | `wait` | the wait for the end, and the outcome |
//! | `download` | files of a job, to a file or to standard output |

pub(crate) mod download;
mod export;
mod import;
mod options;
mod run;
pub(crate) mod upload;
pub(crate) mod wait;

pub use export::ExportOptions;
pub use import::ImportOptions;
pub(crate) use options::{duration, object, pair};
pub use run::RunOptions;
