//! Job types and their jobs, independent of the types of their options, items and outputs.

use std::future::Future;
use std::pin::Pin;

use longshore_domain::job::{JobError, Tolerance};
use longshore_domain::registration::VersionedRegistration;
use serde_json::Value;

use super::processed::{Outputs, Processed};
use super::raw_item::RawItem;
use super::{
    CellReader, CheckedHeader, Header, Input, ItemShape, JobContext, Outcome, Rejection, ResultRow, TypeLimits,
};
use crate::field_error::FieldError;
use crate::remote::RemoteJob;

/// A job type, independent of the types of its options and items.
pub trait AnyJobType: Send + Sync {
    /// Returns the value of `jobType` in a client's request.
    fn name(&self) -> &str;
    /// See [`JobType::INTERNAL`](super::JobType::INTERNAL).
    fn is_internal(&self) -> bool;
    /// Returns the source of the items.
    fn input(&self) -> Input;
    /// Returns the required type of the items in a request.
    fn item(&self) -> ItemShape;
    /// Returns the limits.
    fn limits(&self) -> TypeLimits;
    /// See [`JobType::started`](super::JobType::started).
    fn started(&self, options: &Value) -> Option<Value>;
    /// See [`JobType::is_undoable`](super::JobType::is_undoable).
    fn is_undoable(&self, options: &Value) -> bool;
    /// See [`JobType::writes_records`](super::JobType::writes_records).
    fn writes_records(&self, options: &Value) -> bool;
    /// Returns the registration of a registered type, which a new job copies.
    fn registration(&self) -> Option<&VersionedRegistration> {
        None
    }
    /// Parses and checks options.
    ///
    /// # Errors
    /// Every error in the options, with pointers that begin at the request's root.
    fn prepare(&self, options: &Value) -> Result<Box<dyn PreparedJob>, Vec<FieldError>>;
}

/// A job type together with the options of one job.
pub trait PreparedJob: Send + Sync {
    /// See [`JobType::check_header`](super::JobType::check_header).
    ///
    /// # Errors
    /// If no row could be processed, or the client must decide.
    fn check_header(&self, header: &Header<'_>) -> Result<CheckedHeader, JobError>;
    /// See [`JobType::tolerance`](super::JobType::tolerance).
    fn tolerance(&self) -> Tolerance;
    /// Returns the limits.
    fn limits(&self) -> TypeLimits;
    /// Returns the outcome of an item whose record was removed from its dataset.
    fn removed(&self) -> Outcome;
    /// Returns the outcome of an item that cannot be read for this reason.
    fn unreadable(&self, rejection: Rejection) -> Outcome;
    /// Returns the members of an output that become columns, if the items have outputs.
    fn result_columns(&self) -> Option<(ResultRow, Vec<String>)>;
    /// Returns the job if its handler is remote: the worker then calls the handler itself.
    fn remote(&self) -> Option<&RemoteJob> {
        None
    }
    /// Checks an item without processing it.
    ///
    /// # Errors
    /// The reason why it would fail or be skipped.
    fn check_item(&self, item: &RawItem<'_>, cells: &mut CellReader) -> Result<(), Rejection>;
    /// Processes items and returns the outcomes of the first ones, at least of one.
    fn run<'a>(
        &'a self,
        job: &'a JobContext,
        items: &'a [RawItem<'a>],
        outputs: Outputs,
    ) -> Pin<Box<dyn Future<Output = Processed> + Send + 'a>>;
}
