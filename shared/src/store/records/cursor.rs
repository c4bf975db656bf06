//! Where the next page of records begins: a shard and the last key read in it, opaque to clients and checked.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::shard::{self, SHARDS};
use super::{ListError, MAX_KEY_BYTES};

/// A place in the walk over a dataset's shards.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub(super) struct Cursor {
    /// The shard to go on with.
    pub(super) shard: u8,
    /// The last key that was read in it, if any.
    pub(super) after: Option<String>,
}

impl Cursor {
    /// The place behind a key.
    pub(super) fn behind(key: &str) -> Self {
        Self { shard: shard::shard_of(key), after: Some(key.to_owned()) }
    }

    /// As a client sees it.
    pub(super) fn encode(&self) -> String {
        let mut bytes = vec![self.shard];
        bytes.extend_from_slice(self.after.as_deref().unwrap_or_default().as_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Reads what a client sent; the beginning if it sent none.
    pub(super) fn decode(text: Option<&str>) -> Result<Self, ListError> {
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
