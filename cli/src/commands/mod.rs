//! Commands for users.
//!
//! | module | content |
//! | --- | --- |
//! | `import` | `import`: a file, or standard input, into a dataset |
//! | `export` | `export`: a dataset to a file, or to standard output |
//! | `run` | `run`: a job of any type |
//! | [`jobs`], [`costs`], [`schedules`], [`webhooks`], [`types`] | the commands of the same names |
//! | [`receipt`] | `verify-receipt`: a job's receipt against its files |
//! | [`completion`] | a script that completes commands in a shell |

pub mod completion;
pub mod costs;
mod export;
mod import;
pub mod jobs;
pub mod receipt;
mod run;
pub mod schedules;
pub mod types;
pub mod webhooks;

pub use export::ExportOptions;
pub use import::ImportOptions;
pub use run::RunOptions;
