//! Files of a job: its upload, and downloads.
//!
//! | module | content |
//! | --- | --- |
//! | `upload` | the upload of a file, with a bar |
//! | `download` | files of a job, to a file or to standard output |

pub(crate) mod download;
pub(crate) mod upload;
