//! A position among the items of an ended job.

/// A position among the items of an ended job: group of its report, chunk, and number of items passed. After the last
/// group, `item` is an offset in the file.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Debug, Default)]
pub(crate) struct PartPlace {
    /// Index of the group in the report.
    pub(crate) group: usize,
    /// Index of the chunk among those that are read of the group.
    pub(crate) chunk: usize,
    /// Number of items of the part that were passed in this chunk; after the last group, an offset in the file.
    pub(crate) item: u64,
}

impl PartPlace {
    /// Returns the text that a job stores.
    pub(crate) fn encode(self) -> String {
        format!("{}.{}.{}", self.group, self.chunk, self.item)
    }

    /// Returns the place of a stored text; `None` if it is no place.
    pub(crate) fn decode(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '.');
        let mut part = || parts.next();
        let (group, chunk, item) = (part()?.parse().ok()?, part()?.parse().ok()?, part()?.parse().ok()?);
        Some(Self { group, chunk, item })
    }
}

#[cfg(test)]
mod tests {
    use super::PartPlace;

    #[test]
    fn a_place_survives_storage() {
        let place = PartPlace { group: 3, chunk: 15, item: u64::MAX };
        assert_eq!(PartPlace::decode(&place.encode()), Some(place));
        assert_eq!(["", "1.2", "a.1.1", "1.1.1.1"].map(PartPlace::decode), [None; 4]);
    }
}
