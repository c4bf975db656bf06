//! Limits of the AWS services, each with its source, and checks that refuse the same calls as the services.
//!
//! The adapters keep their calls within these limits. The in-memory services and the proxy in front of the local
//! emulator use the same checks, so that a call beyond a limit fails in tests as it fails on AWS.
//! `docs/aws-limits.md` shows the same table as a page.

pub mod api_gateway;
pub mod dynamodb;
pub mod lambda;
mod limit;
pub mod s3;
pub mod sqs;
mod table;

pub use limit::{Limit, Refusal};
pub use table::table;
