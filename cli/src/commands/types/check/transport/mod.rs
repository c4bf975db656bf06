//! Calls of a handler: an HTTPS endpoint, or a Lambda function.

mod https;
mod lambda;

pub(super) use https::{Endpoint, EndpointError};
pub(super) use lambda::Function;

use super::exchange::{Exchange, Request};

/// A handler that can be called.
pub(super) enum Transport {
    /// An HTTPS endpoint.
    Https(Box<Endpoint>),
    /// A Lambda function.
    Lambda(Function),
}

impl Transport {
    /// Makes a call. It is never repeated.
    pub(super) async fn call(&self, request: Request<'_>) -> Exchange {
        match self {
            Self::Https(endpoint) => endpoint.call(request).await,
            Self::Lambda(function) => function.call(request).await,
        }
    }
}
