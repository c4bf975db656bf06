//! Versions of records, collected in the order of their keys up to a bound.

use longshore_domain::history::RecordVersion;
use longshore_domain::ports::KnownVersions;

use super::size;

/// Maximum bytes of the versions that one read returns. A batch can have a thousand records of 400 KB.
pub const VERSIONS_BYTES: usize = 8 << 20;

/// The versions of the first keys.
#[derive(Debug)]
pub struct VersionCollector {
    collected: KnownVersions,
    bytes: usize,
}

impl Default for VersionCollector {
    fn default() -> Self {
        Self { collected: KnownVersions { versions: Vec::new(), known: 0 }, bytes: 0 }
    }
}

impl VersionCollector {
    /// Adds the version of the next key, or `None` if the key has no record. Returns false if there is no room for it;
    /// there always is for the first key.
    #[must_use]
    pub fn push(&mut self, version: Option<RecordVersion>) -> bool {
        let bytes = version.as_ref().map_or(0, |version| size::bytes(&version.key, &version.data));
        if self.collected.known > 0 && self.bytes + bytes > VERSIONS_BYTES {
            return false;
        }
        self.bytes += bytes;
        self.collected.known += 1;
        self.collected.versions.extend(version);
        true
    }

    /// Returns the versions, and the number of keys that were added.
    pub fn finish(self) -> KnownVersions {
        self.collected
    }
}
