//! Which partition of a dataset a key lies in.
//!
//! One partition of DynamoDB takes 1,000 writes a second, and the rows of one file all belong to one dataset: under
//! one partition key a large import would run at that speed and throttle. So a dataset is 64 partition keys, a hash
//! deciding which: up to 64,000 writes a second, spread evenly from the first row on. The price is the lister's: it
//! walks 64 keys, so a small dataset costs 64 small reads to see as a whole, and there is no order by key.

use sha2::{Digest, Sha256};

use super::Dataset;

/// Partitions of one dataset. Never to be changed: a record would no longer be found where it was put.
pub(super) const SHARDS: u8 = 64;

/// The shard of a key: the same for ever and in every build, which the standard hasher does not promise.
pub(super) fn shard_of(key: &str) -> u8 {
    Sha256::digest(key.as_bytes())[0] % SHARDS
}

/// The partition key of a shard. Neither a dataset's name nor a shard holds a `#`, so no two datasets share one.
pub(super) fn partition(dataset: &Dataset, shard: u8) -> String {
    format!("DATASET#{}#{}#{shard:02x}", dataset.tenant, dataset.name)
}

#[cfg(test)]
mod tests {
    use super::{Dataset, SHARDS, partition, shard_of};

    #[test]
    fn a_key_stays_in_its_shard_for_ever() {
        assert_eq!(["", "a", "42", "ann@example.com"].map(shard_of), [35, 10, 51, 49]);
    }

    #[test]
    fn keys_in_a_row_spread_evenly() {
        let mut load = [0_u32; SHARDS as usize];
        (0..64_000).for_each(|n| load[usize::from(shard_of(&format!("customer-{n:06}")))] += 1);
        assert!(load.iter().all(|n| (800..1_200).contains(n)), "{load:?}");
    }

    #[test]
    fn a_partition_names_tenant_dataset_and_shard() {
        let dataset = Dataset { tenant: "default".into(), name: "customers".into() };
        assert_eq!(partition(&dataset, 10), "DATASET#default#customers#0a");
    }
}
