//! The job types of a world, and the stores that they need besides the services.
//!
//! To add a handler, add a variant of [`Kind`] with its name, weight and options, and its job type in
//! [`Kinds::registry`]. If it has a store, add the store to [`Kinds`], wrapped in `Stepwise` like the others, so that
//! its calls are also refused, repeated and interrupted. [`Kinds::check`] checks the handler's effects in that store at
//! the end of each job. Rows request an action in the column `action`; add further columns in `rows::file_of`. Add the
//! handler's own failure codes to [`Kind::explains`].

mod imports;
mod kind;

pub(crate) use kind::{Kind, Kinds};
