//! Partitions of a dataset.
//!
//! One partition of DynamoDB takes 1,000 writes a second, and all rows of a file belong to one dataset: under one
//! partition key a large import would run at that speed and throttle. So a dataset has 64 partition keys, selected by
//! a hash: up to 64,000 writes a second, spread evenly from the first row on. In return, a list walks 64 keys: a
//! small dataset costs 64 small reads, and there is no order by key.

use sha2::{Digest, Sha256};

use longshore_domain::dataset::Dataset;

/// Number of partitions of one dataset. It must never change: records would no longer be found.
pub const SHARDS: u8 = 64;

/// Returns the shard of a key. It is always the same, in every build, which the standard hasher does not guarantee.
pub fn shard_of(key: &str) -> u8 {
    Sha256::digest(key.as_bytes())[0] % SHARDS
}

/// Returns the partition key of a shard. Neither a dataset's name nor a shard holds a `#`, so no two datasets share
/// one.
pub fn partition(dataset: &Dataset, shard: u8) -> String {
    format!("DATASET#{}#{}#{shard:02x}", dataset.tenant, dataset.name)
}

/// Returns the partition keys of all records of a dataset.
pub fn partitions(dataset: &Dataset) -> impl Iterator<Item = String> {
    (0..SHARDS).map(|shard| partition(dataset, shard))
}

#[cfg(test)]
mod tests {
    use super::{SHARDS, partition, partitions, shard_of};
    use longshore_domain::dataset::Dataset;
    use longshore_domain::tenant::TenantId;

    #[test]
    fn the_shard_of_a_key_never_changes() {
        assert_eq!(["", "a", "42", "ann@example.com"].map(shard_of), [35, 10, 51, 49]);
    }

    #[test]
    fn keys_in_a_row_spread_evenly() {
        let mut load = [0_u32; SHARDS as usize];
        (0..64_000).for_each(|n| load[usize::from(shard_of(&format!("customer-{n:06}")))] += 1);
        assert!(load.iter().all(|n| (800..1_200).contains(n)), "{load:?}");
    }

    #[test]
    fn every_key_is_in_one_of_the_partitions() {
        let dataset = Dataset { tenant: TenantId::from_static("default"), name: "customers".into() };
        let partitions: Vec<_> = partitions(&dataset).collect();
        assert_eq!(partitions.len(), usize::from(SHARDS));
        assert!((0..1_000).all(|n| partitions.contains(&partition(&dataset, shard_of(&n.to_string())))));
    }

    #[test]
    fn a_partition_names_tenant_dataset_and_shard() {
        let dataset = Dataset { tenant: TenantId::from_static("default"), name: "customers".into() };
        assert_eq!(partition(&dataset, 10), "DATASET#default#customers#0a");
    }
}
