//! Documents about the API, for people and tools: the OpenAPI document, its HTML page, and a page for each kind of
//! problem, to which the `type` of a problem links.
//!
//! They are public, because a browser follows a link without a token. They contain no data of any tenant.

pub(crate) mod docs;
mod page;
pub(crate) mod problems;
