//! Turns of tenants: what one tenant has due holds up no other tenant.

use std::collections::BTreeMap;

use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

/// Something that is due for a tenant.
pub trait OfTenant: Ord {
    /// Returns the tenant.
    fn tenant(&self) -> &TenantId;
}

/// Returns due items of which the tenants take turns, each with its longest overdue first: at most `limit`, each with the time
/// at which it was due.
pub fn by_turns<T: OfTenant>(mut due: Vec<(Timestamp, T)>, limit: usize) -> Vec<(Timestamp, T)> {
    due.sort_unstable();
    due.dedup();
    let mut turns: BTreeMap<TenantId, usize> = BTreeMap::new();
    let with_turn = |(at, item): (Timestamp, T)| {
        let turn = turns.entry(item.tenant().clone()).or_default();
        *turn += 1;
        (*turn, at, item)
    };
    let mut due: Vec<_> = due.into_iter().map(with_turn).collect();
    due.sort_unstable();
    due.into_iter().take(limit).map(|(_, at, item)| (at, item)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    impl OfTenant for (TenantId, i64) {
        fn tenant(&self) -> &TenantId {
            &self.0
        }
    }

    #[test]
    fn the_tenants_take_turns() {
        let item = |tenant, second| (Timestamp(second), (TenantId::from_static(tenant), second));
        let [a1, a2, a3, b5, c9] = [item("a", 1), item("a", 2), item("a", 3), item("b", 5), item("c", 9)];
        let due = vec![a3.clone(), c9.clone(), a1.clone(), b5.clone(), a2.clone(), a1.clone()];
        assert_eq!(by_turns(due.clone(), 4), [a1.clone(), b5.clone(), c9, a2]);
        assert_eq!(by_turns(by_turns(due, 4), 2), [a1, b5], "a part of the answer is the answer of a lower limit");
    }
}
