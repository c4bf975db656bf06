//! Calls of an emulator's AWS: CloudFormation, Lambda, API Gateway and Cognito by their SDKs, the rest as raw requests.

mod calls;
mod client;
mod functions;
mod gateway;
mod stacks;
mod user_pool;

pub use client::Cloud;
pub use functions::FunctionConfig;
pub use longshore_cli::aws::pool::{Credentials, SignedIn};
pub use longshore_cli::aws::stack::Description;
pub use user_pool::{UserPool, sub};
