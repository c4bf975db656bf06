//! Calls of this function.

use std::sync::Arc;

use axum::Router;
use longshore::http;
use longshore_domain::ports::{DeadLetterRecords, Queues, RedriveToSource, Store};

use crate::function::DeadLetters;
use crate::{discard, list, replay, show};

longshore::routes! {
    openapi();
    [S: Store + DeadLetterRecords + 'static, Q: Queues + RedriveToSource + 'static] Arc<DeadLetters<S, Q>>;
    GET    "/api/dead-letters"                    list::list<S, Q>,
    POST   "/api/dead-letters/replay"             replay::replay_job<S, Q>,
    GET    "/api/dead-letters/{letterId}"         show::show<S, Q>,
    DELETE "/api/dead-letters/{letterId}"         discard::discard<S, Q>,
    POST   "/api/dead-letters/{letterId}/replay"  replay::replay<S, Q>,
}

/// Returns the function as a router.
pub fn router<S, Q>(function: DeadLetters<S, Q>) -> Router
where
    S: Store + DeadLetterRecords + 'static,
    Q: Queues + RedriveToSource + 'static,
{
    let router = http::with_operators(http::with_problems(routes::<S, Q>()), &function.operators);
    http::with_access(router, &function.access).with_state(Arc::new(function))
}
