//! The files in memory, for tests. They refuse calls that S3 refuses.

mod memory;
mod parts;

use memory::{Parts, etag, failed};

pub use memory::{MemoryFiles, MemoryStream};
