//! Components of a package.

/// A dependency, or a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Component {
    /// Unique reference: the package URL of a dependency.
    pub(super) reference: String,
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) version: String,
    /// License as an SPDX expression.
    pub(super) license: Option<String>,
    /// Hash algorithm and hash in hexadecimal of the package in its registry.
    pub(super) hash: Option<(&'static str, String)>,
    /// References of the components that it depends on.
    pub(super) depends_on: Vec<String>,
}

/// The kind of a component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A function.
    Function,
    /// A crate of this repository.
    Own,
    /// A package of a registry.
    Registry,
}
