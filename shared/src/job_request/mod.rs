//! The parts of a request for a job that more than one function reads: the job type and its options, the uploaded file
//! and how it is read.

mod known_types;
mod options;
mod reading;
mod upload;

pub use known_types::{KnownTypes, newest};
pub use options::prepare_options;
pub use reading::{ParsedReading, ReadingRequest, read_reading};
pub use upload::{find_upload, source_file, unknown_file};
