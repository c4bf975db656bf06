//! `shapes`: compares the golden files of messages, items and files with those of earlier commits and of the previous
//! release, so that no change breaks that release: the two run beside each other while functions are updated.
//!
//! The tests of `shared` compare the golden files with the code.
//!
//! | module | contents |
//! | --- | --- |
//! | `command` | the contents that are compared |
//! | `compare` | the changes that are not permitted |
//! | `reads` | the values that a version reads |
//! | `retired` | the shapes that do not exist any more |

mod command;
mod compare;
mod reads;
mod retired;

pub(crate) use command::run;
