//! Metrics of the functions, in the embedded metric format of CloudWatch (EMF): JSON lines on standard output, of which
//! CloudWatch makes metrics, without a call and without a permission
//! ([specification](https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html)).
//!
//! Values are collected during an invocation, and written at its end. They are estimates: a value is lost if the process
//! is killed, and counted twice if an item is processed twice. The counts of a job are exact, and are not made of them.
//!
//! | file | content |
//! | --- | --- |
//! | `metric` | the metrics, with their units and dimensions |
//! | `recorder` | the metrics that this process has recorded and not yet written |
//! | `values` | the values of a metric |
//! | `job` | the metrics of a job that has ended |
//! | `emf` | the lines |

mod emf;
mod job;
mod metric;
mod recorder;
#[cfg(test)]
mod tests;
mod values;

pub use emf::{NAMESPACE, write};
pub use job::job_ended;
pub use metric::{Metric, STACK};
pub use recorder::{Metrics, count, take, time};
pub use values::Values;
