//! Renders the API's document as a page: every call with its parameters and responses. The page needs no scripts and no
//! network, and supports dark mode, phones and print.
//!
//! The page is committed and served as a static file, because it only changes with the code.

mod call;
mod curl;
mod document;
mod layout;
mod shape;
mod words;

pub(super) use layout::page;
