//! The queues of the stack.

mod deployed;
pub(crate) mod list;

pub use deployed::DeployedStatistics;
