//! Used idempotency keys.

use std::collections::BTreeMap;

use longshore_domain::ports::{Created, IdempotencyKey};
use longshore_domain::tenant::TenantId;

use longshore::store::own_write;

/// The used idempotency keys, by tenant and key.
#[derive(Debug)]
pub(super) struct TakenKeys<Id>(BTreeMap<(TenantId, String), TakenKey<Id>>);

/// A used idempotency key.
#[derive(Debug)]
struct TakenKey<Id> {
    request_hash: String,
    created: Id,
    expires_at: i64,
}

impl<Id> Default for TakenKeys<Id> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<Id: Copy + PartialEq> TakenKeys<Id> {
    /// Returns the result of a key for a caller that wants to create `own`; `None` if the key is unused.
    pub(super) fn outcome(&self, tenant: &TenantId, key: &IdempotencyKey, own: Id) -> Option<Created<Id>> {
        self.taken(tenant, key).map(|taken| own_write::key_taken(key, own, &taken.request_hash, taken.created))
    }

    /// Returns the result of a key for a caller that has not yet tried to create anything; `None` if the key is
    /// unused.
    pub(super) fn used(&self, tenant: &TenantId, key: &IdempotencyKey) -> Option<Created<Id>> {
        self.taken(tenant, key).map(|taken| own_write::key_used(key, &taken.request_hash, taken.created))
    }

    fn taken(&self, tenant: &TenantId, key: &IdempotencyKey) -> Option<&TakenKey<Id>> {
        let taken = self.0.get(&(tenant.clone(), key.key.clone()))?;
        (taken.expires_at >= key.at.seconds()).then_some(taken)
    }

    pub(super) fn take(&mut self, tenant: &TenantId, key: &IdempotencyKey, created: Id) {
        let taken = TakenKey { request_hash: key.request_hash.clone(), created, expires_at: key.expires_at() };
        self.0.insert((tenant.clone(), key.key.clone()), taken);
    }
}
