//! The error of every port.

/// The failure of a remote service after its client's own retries: the caller returns the message to its queue.
#[derive(Debug, thiserror::Error)]
#[error("{service}: {operation} failed")]
pub struct PortError {
    /// The service: `store`, `queues` or `files`.
    pub service: &'static str,
    /// The operation, in the port's terms.
    pub operation: &'static str,
    /// The underlying error.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

impl PortError {
    /// Returns true if nothing was written and the same call may succeed a moment later.
    pub fn is_busy(&self) -> bool {
        self.source.is::<Busy>()
    }

    /// Returns true if the same call may succeed a moment later. It may have had its effect.
    pub fn is_temporary(&self) -> bool {
        self.is_busy() || self.source.is::<Unavailable>()
    }
}

/// Transient cause of a [`PortError`]: at every attempt, the service had no capacity for the call, or other writes
/// conflicted with it.
#[derive(Debug, thiserror::Error)]
#[error("at every attempt, the service had no capacity, or the call conflicted with other writes")]
pub struct Busy(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// Temporary cause of a [`PortError`]: at every attempt there was no connection or no response, or the service failed.
/// The call may have had its effect.
#[derive(Debug, thiserror::Error)]
#[error("at every attempt, the service could not be reached, or it failed")]
pub struct Unavailable(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// The result of a call to a port.
pub type PortResult<T> = Result<T, PortError>;
