//! The list of dependencies of a package: a software bill of materials in CycloneDX
//! (<https://cyclonedx.org/docs/1.6/json/>).
//!
//! It is made from what decides the build: `cargo metadata` for the target, Cargo.lock and web/package-lock.json. Equal
//! sources have equal lists, because they have neither a time nor a serial number.
//!
//! | module | contents |
//! | --- | --- |
//! | `component` | a dependency, or a function |
//! | `crates` | the crates, by `cargo metadata` |
//! | `npm` | the npm packages of the page, by its lock file |
//! | `document` | the list in the form of CycloneDX |
//! | `list` | all steps |

mod component;
mod crates;
mod document;
mod list;
mod npm;

use component::{Component, Kind};
pub(super) use document::commit_of;
pub(super) use list::list;
