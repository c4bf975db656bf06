//! The clients of Lambda, one for each region, and an invocation.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use aws_sdk_lambda::Client;
use aws_sdk_lambda::config::retry::RetryConfig;
use aws_sdk_lambda::config::timeout::TimeoutConfig;
use aws_sdk_lambda::config::{Builder, Region, StalledStreamProtectionConfig};
use aws_sdk_lambda::primitives::Blob;
use aws_sdk_lambda::types::InvocationType;
use tokio::time::timeout;

use super::answer_limit::AnswerLimit;
use super::invoked::Invoked;

/// Maximum time for TCP and TLS with Lambda.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum idle time of a client that is used again, as `Limits::keep_idle` of `longshore-outbound`.
const KEEP_IDLE: Duration = Duration::from_secs(1);

/// Base of the clients' configuration: region, credentials, HTTP client.
type Configure = dyn Fn() -> Builder + Send + Sync;

/// Lambda functions of any region.
pub struct Functions {
    configure: Box<Configure>,
    clients: Mutex<BTreeMap<String, Kept>>,
}

/// A client, and the time of its last use.
struct Kept {
    client: Client,
    used_at: SystemTime,
}

/// An invocation of a function, whose return value is awaited.
#[derive(Clone, Debug)]
pub struct Invocation<'a> {
    /// ARN of the function's alias.
    pub arn: &'a str,
    /// The request as JSON.
    pub payload: Vec<u8>,
    /// Maximum time of the whole invocation.
    pub timeout: Duration,
}

impl Functions {
    /// Creates the functions. `configure` is called for each client, so that its HTTP client can be a new one.
    pub fn new(configure: impl Fn() -> Builder + Send + Sync + 'static) -> Self {
        Self { configure: Box::new(configure), clients: Mutex::default() }
    }

    /// Invokes a function in the region of its ARN, once. Nothing is repeated: neither by the SDK nor here. A client whose
    /// call broke off is not used again.
    pub async fn invoke(&self, invocation: Invocation<'_>) -> Invoked {
        let Invocation { arn, payload, timeout: time } = invocation;
        let client = self.client(region(arn), SystemTime::now());
        let invoke = client.invoke().function_name(arn).payload(Blob::new(payload));
        let invoke = invoke.invocation_type(InvocationType::RequestResponse).send();
        let invoked = match timeout(time, invoke).await {
            Err(_) => Invoked::TimedOut,
            Ok(Ok(output)) => Invoked::from_output(output),
            Ok(Err(error)) => Invoked::from_error(error),
        };
        match invoked {
            Invoked::TimedOut | Invoked::NoConnection(_) | Invoked::Broken(_) => {
                self.clients().remove(region(arn));
            }
            _ => {
                if let Some(kept) = self.clients().get_mut(region(arn)) {
                    kept.used_at = SystemTime::now();
                }
            }
        }
        invoked
    }

    /// Returns the client of a region. Creates it if there is none, or if the last one was idle for [`KEEP_IDLE`] of the
    /// wall clock. While this process is suspended, its idle connections can be closed, and a request that is sent on such
    /// a connection looks like a failure of the function. A new client has new connections if `configure` gives it a new
    /// HTTP client.
    fn client(&self, region: &str, now: SystemTime) -> Client {
        let mut clients = self.clients();
        // After a clock that was set back, the time is unknown.
        clients.retain(|_, kept| now.duration_since(kept.used_at).is_ok_and(|idle| idle < KEEP_IDLE));
        let kept = clients.entry(region.to_owned());
        let kept = kept.or_insert_with(|| Kept { client: client((self.configure)(), region), used_at: now });
        kept.used_at = now;
        kept.client.clone()
    }

    fn clients(&self) -> MutexGuard<'_, BTreeMap<String, Kept>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Functions")
    }
}

/// Creates a client that repeats no request, and whose only time limit besides the invocation's is that of a connection.
/// Limits that are not disabled explicitly would be taken from the base.
fn client(base: Builder, region: &str) -> Client {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .disable_read_timeout()
        .disable_operation_attempt_timeout()
        .disable_operation_timeout()
        .build();
    let config = base
        .region(Region::new(region.to_owned()))
        .retry_config(RetryConfig::disabled())
        .timeout_config(timeouts)
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
        .interceptor(AnswerLimit);
    Client::from_conf(config.build())
}

/// Returns the region of an ARN.
fn region(arn: &str) -> &str {
    arn.split(':').nth(3).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use aws_sdk_lambda::config::BehaviorVersion;

    use super::*;

    #[test]
    fn a_client_is_used_again_until_it_was_idle_for_too_long() {
        let created = Arc::<AtomicU32>::default();
        let count = Arc::clone(&created);
        let functions = Functions::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
            Builder::new().behavior_version(BehaviorVersion::latest())
        });
        let (start, instant) = (SystemTime::UNIX_EPOCH + Duration::from_secs(1_000), Duration::from_millis(1));
        let clients_at = |region: &str, now| {
            functions.client(region, now);
            created.load(Ordering::Relaxed)
        };
        let (soon, late) = (start + KEEP_IDLE - instant, start + KEEP_IDLE * 2 - instant);
        assert_eq!([clients_at("a", start), clients_at("a", soon), clients_at("a", late)], [1, 1, 2]);
        assert_eq!([clients_at("b", late), clients_at("a", late)], [3, 3], "each region has its own");
        assert_eq!(clients_at("a", start), 4, "the clock was set back");
    }

    #[test]
    fn an_answer_that_pauses_is_cut_off_by_nothing_but_the_time_of_its_invocation() {
        let client = client(Builder::new().behavior_version(BehaviorVersion::latest()), "eu-central-1");
        // The SDK measures pauses with the system clock, so a test with another clock would not notice.
        assert!(client.config().stalled_stream_protection().is_some_and(|protection| !protection.is_enabled()));
        assert_eq!(client.config().region().map(Region::as_ref), Some("eu-central-1"));
    }
}
