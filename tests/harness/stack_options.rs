//! Options and parameters of a test's stack.

use std::collections::BTreeMap;

use super::staging::JobTypes;

/// Parameters with short intervals, so that tests are quick. A worker has five seconds, and its message is redelivered
/// after thirty.
const PARAMETERS: [(&str, &str); 12] = [
    ("Environment", "local"),
    ("Architecture", if cfg!(target_arch = "aarch64") { "arm64" } else { "x86_64" }),
    ("RequireTls", "false"),
    ("AllowedOrigins", "*"),
    ("WorkerTimeoutSeconds", "5"),
    ("MaxReceiveCount", "2"),
    ("ScheduleState", "DISABLED"),
    ("RetryBaseSeconds", "1"),
    ("StopGraceSeconds", "1"),
    // Most stories use one tenant.
    ("TenantWorkCalls", "100000"),
    ("TenantCallsPerSecond", "1000"),
    ("TenantCallsAtOnce", "100000"),
];

/// Differences from the default stack.
#[derive(Clone, Debug, Default)]
pub struct StackOptions {
    /// Use the probe's binary for the functions that run job types.
    pub probe: bool,
    /// Put the fault proxy between the functions and AWS. The test itself bypasses it.
    pub faults: bool,
    /// Save the emulator's state when it is stopped, so that the stack can be restarted.
    pub persists: bool,
    /// Additional parameters, which override the default ones.
    pub parameters: Vec<(&'static str, &'static str)>,
}

impl StackOptions {
    /// The parameters of the deployment, in the form of `sam deploy`.
    pub(super) fn parameters(&self) -> String {
        let mut parameters: BTreeMap<&str, &str> = PARAMETERS.into_iter().collect();
        parameters.extend(self.parameters.iter().copied());
        let parameters: Vec<_> = parameters.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        parameters.join(" ")
    }

    pub(super) fn job_types(&self) -> JobTypes {
        if self.probe { JobTypes::Probe } else { JobTypes::Product }
    }
}
