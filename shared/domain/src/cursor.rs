//! A chunk's cursor: its committed position, and the attempt that committed it.
//!
//! The cursor is the guard of the whole ledger: a commit moves it from one value to another, on condition that it still
//! has the old one (compare-and-set). So every value ever written must be unique. The token, made of the attempt's
//! nonce and a number, makes it so.
//!
//! The text form has at most 40 bytes, to keep a group under one write unit: `round.position.token.file.deferred.due`,
//! with `-` for an absent part and `F` for the position of a finished chunk. A seventh part, `.s`, marks a round that
//! the sweeper sends; versions that do not know it read the other six.

use std::fmt;

use crate::timestamp::Timestamp;

/// The committed position of a chunk.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub struct Cursor {
    /// 0 for the chunk's own items; round n processes the transient items that round n - 1 deferred.
    pub round: u32,
    /// Items of this round that are done or deferred to the next round.
    pub position: u32,
    /// The attempt's nonce and the number of its commit: unique among all cursors ever written.
    pub token: String,
    /// Token of the last work file of the chain that this commit includes.
    pub file: Option<String>,
    /// Items that this round has deferred to the next one so far.
    pub deferred: u32,
    /// Earliest start of this round, in whole seconds; `None` for the first one.
    pub due: Option<Timestamp>,
    /// True if no work remains in this chunk.
    pub finished: bool,
    /// True if the round is due later than a queue can delay: no message is in flight, and the sweeper sends it when
    /// due.
    pub by_sweeper: bool,
}

impl Cursor {
    /// Returns the token of the `n`th commit of the attempt called `nonce`.
    pub fn token(nonce: &str, n: u32) -> String {
        format!("{nonce}{n}")
    }

    /// Returns a cursor at the start of a round over the items of the work file that this token names.
    pub fn for_round(round: u32, token: String) -> Self {
        let file = Some(token.clone());
        Self { round, position: 0, token, file, deferred: 0, due: None, finished: false, by_sweeper: false }
    }

    /// Returns true if the chunk has ended and no item of it is left: its last round has no work file.
    pub fn has_nothing_left(&self) -> bool {
        self.finished && self.file.is_none()
    }

    /// Parses the text form; `None` if it is not a cursor (damaged, or written by a newer version).
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let mut next = || parts.next();
        let (round, position, token, file, deferred, due) = (next()?, next()?, next()?, next()?, next()?, next()?);
        let by_sweeper = next() == Some("s");
        let optional = |s: &str| (s != "-").then(|| s.to_owned());
        Some(Self {
            round: round.parse().ok()?,
            finished: position == "F",
            position: if position == "F" { 0 } else { position.parse().ok()? },
            token: token.to_owned(),
            file: optional(file),
            deferred: deferred.parse().ok()?,
            by_sweeper,
            due: if due == "-" { None } else { Some(Timestamp(due.parse::<i64>().ok()?.checked_mul(1000)?)) },
        })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.", self.round)?;
        if self.finished {
            write!(f, "F")?
        } else {
            write!(f, "{}", self.position)?
        }
        write!(f, ".{}.{}.{}.", self.token, self.file.as_deref().unwrap_or("-"), self.deferred)?;
        match self.due {
            Some(due) => write!(f, "{}", due.seconds())?,
            None => write!(f, "-")?,
        }
        if self.by_sweeper { write!(f, ".s") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_its_text_form() {
        let open = Cursor {
            round: 2,
            position: 17,
            token: "abcdefgh3".into(),
            file: Some("abcdefgh2".into()),
            deferred: 4,
            due: Some(Timestamp(1_700_000_000_000)),
            finished: false,
            by_sweeper: false,
        };
        let by_sweeper = Cursor { by_sweeper: true, ..open.clone() };
        let finished = Cursor { position: 0, finished: true, file: None, due: None, ..open.clone() };
        assert_eq!([&open, &finished].map(Cursor::has_nothing_left), [false, true]);
        for cursor in [open, by_sweeper, finished] {
            assert_eq!(Cursor::parse(&cursor.to_string()), Some(cursor));
        }
    }

    #[test]
    fn an_invalid_cursor_is_refused() {
        for text in ["", "0", "0.x.t.-.0.-", "a.1.t.-.0.-", "1.0.t.-.0.9223372036854776", "1.0.t.-.0.x"] {
            assert_eq!(Cursor::parse(text), None, "{text}");
        }
    }
}
