//! OpenAPI metadata of this function's calls: parameters, refusals and examples. `shared/src/openapi` assembles the
//! document. The calls themselves are described beside their handlers, and listed in `routes`.

pub(crate) mod examples;
pub(crate) mod parameters;
pub(crate) mod refusals;
