//! Position of the next page of records: a shard and the last key read in it, opaque to clients and checked.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::MAX_KEY_BYTES;
use super::shard::{self, SHARDS};
use longshore_domain::ports::ListError;

/// A position in the walk over a dataset's shards.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct RecordsCursor {
    /// The shard to continue with.
    pub shard: u8,
    /// The last key that was read in the shard, if any.
    pub after: Option<String>,
}

impl RecordsCursor {
    /// Returns the position after a key.
    pub fn after(key: &str) -> Self {
        Self { shard: shard::shard_of(key), after: Some(key.to_owned()) }
    }

    /// Encodes the position for clients.
    pub fn encode(&self) -> String {
        let mut bytes = vec![self.shard];
        bytes.extend_from_slice(self.after.as_deref().unwrap_or_default().as_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Decodes a client's cursor; the beginning if there is none.
    pub fn decode(text: Option<&str>) -> Result<Self, ListError> {
        let Some(text) = text else { return Ok(Self::default()) };
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| ListError::BadCursor)?;
        let (&shard, key) = bytes.split_first().ok_or(ListError::BadCursor)?;
        let key = std::str::from_utf8(key).map_err(|_| ListError::BadCursor)?;
        let sound = (1..=MAX_KEY_BYTES).contains(&key.len()) && shard < SHARDS && shard == shard::shard_of(key);
        if sound { Ok(Self::after(key)) } else { Err(ListError::BadCursor) }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_KEY_BYTES, RecordsCursor};

    #[test]
    fn a_cursor_reads_back() {
        let cursor = RecordsCursor::after("ann@example.com");
        assert_eq!(RecordsCursor::decode(Some(&cursor.encode())).ok(), Some(cursor));
        assert_eq!(RecordsCursor::decode(None).ok(), Some(RecordsCursor::default()));
    }

    #[test]
    fn a_cursor_that_no_page_returned_is_refused() {
        let other_shard =
            RecordsCursor { shard: 1 + super::shard::shard_of("a") % 8, after: Some("a".into()) }.encode();
        let (longest, longer) = ("k".repeat(MAX_KEY_BYTES), "k".repeat(MAX_KEY_BYTES + 1));
        assert!(RecordsCursor::decode(Some(&RecordsCursor::after(&longest).encode())).is_ok());
        let longer = RecordsCursor::after(&longer).encode();
        for bad in ["", "?", "AA", "_w", "AP__", other_shard.as_str(), longer.as_str()] {
            assert!(RecordsCursor::decode(Some(bad)).is_err(), "{bad}");
        }
    }
}
