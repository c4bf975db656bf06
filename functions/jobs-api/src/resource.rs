//! Resources of a tenant that are changed on condition of what was read: webhooks and schedules.

use std::future::Future;

use axum::http::HeaderMap;
use longshore::http::Failure;
use longshore::problem::{Kind, Problem};
use longshore_domain::ports::{ConditionalWrite, PortResult};
use longshore_domain::tenant::TenantId;

use crate::etag;

/// Attempts of a change that other calls precede.
pub(crate) const ATTEMPTS: usize = 10;

/// A resource in a store.
pub(crate) trait Resource<S>: Clone + Send + Sync {
    /// Name of the resource in problems.
    const NAME: &'static str;

    /// Returns the tenant's resource with an id, or `None`.
    fn read(store: &S, tenant: &TenantId, id: &str) -> impl Future<Output = PortResult<Option<Self>>> + Send;

    /// Stores the resource if it is as it was read.
    fn put(&self, store: &S, read: &Self) -> impl Future<Output = PortResult<ConditionalWrite>> + Send;

    /// Deletes the resource if it is as it was read.
    fn remove(&self, store: &S) -> impl Future<Output = PortResult<ConditionalWrite>> + Send;

    /// Returns the entity tag of what a change replaces.
    fn tag(&self) -> String;
}

/// Returns the resource of a path.
///
/// # Errors
/// 404 if the tenant has none with this id.
pub(crate) async fn find<R: Resource<S>, S>(store: &S, tenant: &TenantId, id: &str) -> Result<R, Failure> {
    Ok(R::read(store, tenant, id).await?.ok_or_else(|| Problem::not_found(R::NAME))?)
}

/// Changes the resource of a path, if `If-Match` permits it. Returns it as it is stored.
///
/// # Errors
/// 404, 412, what `change` refuses, or 503 if other calls change it again and again.
pub(crate) async fn change<R: Resource<S>, S>(
    store: &S,
    (tenant, id): (&TenantId, &str),
    headers: &HeaderMap,
    change: impl Fn(R) -> Result<R, Problem>,
) -> Result<R, Failure> {
    for _ in 0..ATTEMPTS {
        let read = find::<R, S>(store, tenant, id).await?;
        etag::check_tag(headers, Some(&read.tag()), R::NAME)?;
        let changed = change(read.clone())?;
        if changed.put(store, &read).await? == ConditionalWrite::Stored {
            return Ok(changed);
        }
    }
    Err(overtaken(R::NAME).into())
}

/// Deletes the resource of a path, if `If-Match` permits it.
///
/// # Errors
/// 404, 412, or 503 if other calls change it again and again.
pub(crate) async fn delete<R: Resource<S>, S>(
    store: &S,
    (tenant, id): (&TenantId, &str),
    headers: &HeaderMap,
) -> Result<(), Failure> {
    for _ in 0..ATTEMPTS {
        let read = find::<R, S>(store, tenant, id).await?;
        etag::check_tag(headers, Some(&read.tag()), R::NAME)?;
        if read.remove(store).await? == ConditionalWrite::Stored {
            return Ok(());
        }
    }
    Err(overtaken(R::NAME).into())
}

/// Returns the problem of a call that others precede again and again.
pub(crate) fn overtaken(resource: &str) -> Problem {
    let detail = format!("other calls change this {resource} at the same moment; nothing was done; retry later");
    Problem::new(Kind::Unavailable, detail).retry_after(1)
}
