//! `package`: everything that a deployment to AWS needs, built, so that it needs neither Rust nor a checkout.
//!
//! A package has one architecture. Its folder has the template, a ZIP file for each function, the list of their
//! dependencies, and checksums; an archive of the folder is beside it.
//!
//! | module | contents |
//! | --- | --- |
//! | `architecture` | names of an architecture |
//! | `build` | the build of the functions with cargo-lambda |
//! | `dependencies` | the list of dependencies |
//! | `template` | template and settings of a package |
//! | `folder` | the files of a package, and its checksums |
//! | `command` | options and steps |

mod architecture;
mod build;
mod command;
mod dependencies;
mod folder;
mod template;

pub(crate) use architecture::Architecture;
pub(crate) use build::{Linker, build};
pub(crate) use command::{Options, run, write_folder};
