//! A difference between two documents, and a list of differences.

/// A difference that is relevant to clients.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Change {
    /// The call, and the position within its request or response.
    pub location: String,
    /// Description of the difference.
    pub description: String,
    /// True if it can break a client of the old document.
    pub is_breaking: bool,
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if self.is_breaking { "breaking" } else { "compatible" };
        write!(f, "{kind:<10}  {}: {}", self.location, self.description)
    }
}

/// A list of differences.
#[derive(Default)]
pub(crate) struct Changes(pub(crate) Vec<Change>);

impl Changes {
    pub(crate) fn breaking(&mut self, location: &str, description: impl Into<String>) {
        self.0.push(Change { location: location.to_owned(), description: description.into(), is_breaking: true });
    }

    pub(crate) fn compatible(&mut self, location: &str, description: impl Into<String>) {
        self.0.push(Change { location: location.to_owned(), description: description.into(), is_breaking: false });
    }
}
