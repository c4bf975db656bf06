//! Load: many concurrent jobs, and a large job that is canceled.
//!
//! | module | load |
//! | --- | --- |
//! | [`many_jobs`] | many jobs of four tenants at once |
//! | [`canceled`] | one large job that is canceled after its first chunk |

mod canceled;
mod many_jobs;

/// Workers have fifteen seconds, because they can start slowly on a busy machine.
const PARAMETERS: [(&str, &str); 1] = [("WorkerTimeoutSeconds", "15")];
