//! The page made from the API's document: every call with its parameters and responses, readable without scripts or
//! network, in light and dark mode, on a phone and on paper.
//!
//! The page is generated here and served as static bytes, because it only changes with the code.

mod call;
mod curl;
mod document;
mod layout;
mod shape;
mod words;

pub(super) use layout::page;
