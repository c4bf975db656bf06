//! Calls to an AWS emulator: CloudFormation, Lambda, API Gateway and Cognito with their SDKs, other services as plain
//! requests.

mod client;
mod logs;
mod resources;
mod user_pool;

pub use client::Cloud;
pub use longshore_cli::aws::pool::{Credentials, SignedIn};
pub use resources::{FunctionConfig, package};
pub use user_pool::{UserPool, sub};
