//! Position of the next page of records: a shard and the last key read in it, opaque to clients and checked.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::MAX_KEY_BYTES;
use super::shard::{self, SHARDS};
use longshore_domain::ports::ListError;

/// A position in the walk over a dataset's shards.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct Cursor {
    /// The shard to continue with.
    pub shard: u8,
    /// The last key that was read in the shard, if any.
    pub after: Option<String>,
}

impl Cursor {
    /// Returns the position after a key.
    pub fn behind(key: &str) -> Self {
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
        if sound { Ok(Self::behind(key)) } else { Err(ListError::BadCursor) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cursor, MAX_KEY_BYTES};

    #[test]
    fn a_cursor_reads_back() {
        let cursor = Cursor::behind("ann@example.com");
        assert_eq!(Cursor::decode(Some(&cursor.encode())).ok(), Some(cursor));
        assert_eq!(Cursor::decode(None).ok(), Some(Cursor::default()));
    }

    #[test]
    fn what_no_page_gave_is_refused() {
        let other_shard = Cursor { shard: 1 + super::shard::shard_of("a") % 8, after: Some("a".into()) }.encode();
        let (longest, longer) = ("k".repeat(MAX_KEY_BYTES), "k".repeat(MAX_KEY_BYTES + 1));
        assert!(Cursor::decode(Some(&Cursor::behind(&longest).encode())).is_ok());
        let longer = Cursor::behind(&longer).encode();
        for bad in ["", "?", "AA", "_w", "AP__", other_shard.as_str(), longer.as_str()] {
            assert!(Cursor::decode(Some(bad)).is_err(), "{bad}");
        }
    }
}
