//! The only code that reads the environment: all settings of a function are typed and checked here.
//!
//! A function asks [`Aws`] only for the adapters that it uses: an unused client is never built, and an unused
//! variable may be missing. A missing or malformed variable is an error that names it.

mod access;
mod aws;
mod calls;
mod handlers;
pub mod names;
mod settings;
mod variable;

pub use access::{access, operators};
pub use aws::Aws;
pub use calls::{Calls, CountCalls, take_calls};
pub use handlers::{
    handler_ca, handler_chunks_per_type, handler_functions, handler_hosts, handler_ports, image_function,
};
pub use settings::{
    cost_meter, job_time_limit_s, max_active_jobs, max_file_bytes, max_queued_chunks, max_tenant_job_bytes_per_day,
    max_tenant_upload_bytes_per_day, multipart_bytes, retention_days, retry_base_s, stall_s, stop_grace_s,
    tenant_calls, tenant_webhook_calls, tenant_work_calls,
};
pub use variable::{ConfigError, parsed, text};
