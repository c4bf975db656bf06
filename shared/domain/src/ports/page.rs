//! A page of a list.

/// A page of a list, with the cursor of the next page.
#[derive(Clone, PartialEq, Debug)]
pub struct Page<T> {
    /// The entries of the page.
    pub items: Vec<T>,
    /// Opaque cursor of the next page; `None` on the last page.
    pub next: Option<String>,
}
