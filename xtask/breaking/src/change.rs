//! One difference between two documents, and the list of those found.

/// One difference that matters to clients.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Change {
    /// The call, and the position within its request or response.
    pub place: String,
    /// A description of the difference.
    pub what: String,
    /// True if a client of the old document may fail.
    pub is_breaking: bool,
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if self.is_breaking { "breaking" } else { "fine    " };
        write!(f, "{kind}  {}: {}", self.place, self.what)
    }
}

/// The differences found so far.
#[derive(Default)]
pub(crate) struct Found(pub(crate) Vec<Change>);

impl Found {
    pub(crate) fn breaking(&mut self, place: &str, what: impl Into<String>) {
        self.0.push(Change { place: place.to_owned(), what: what.into(), is_breaking: true });
    }

    pub(crate) fn fine(&mut self, place: &str, what: impl Into<String>) {
        self.0.push(Change { place: place.to_owned(), what: what.into(), is_breaking: false });
    }
}
