//! A proxy in front of the emulator that refuses what AWS refuses and the emulator accepts. It uses the table and the
//! checks of [`longshore::aws_limits`].
//!
//! The proxy runs in threads of this process. It reads only requests, and forwards responses as they arrive. A refusal
//! has the service's own form, so a client cannot distinguish it from a refusal by AWS.

mod check;
mod dynamodb;
mod proxy;
mod refused;
mod request;
mod s3;
mod sqs;

pub use proxy::LimitsProxy;
