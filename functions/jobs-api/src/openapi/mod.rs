//! What this function says of its calls in the API's document (`shared/src/openapi`): parameters, refusals, examples.
//! The calls themselves are described where they are handled.

pub(crate) mod examples;
pub(crate) mod parameters;
pub(crate) mod refusals;

use longshore::job_types::import::ImportOptions;
use utoipa::OpenApi;

use crate::{audit, cancel, create, datasets, delete, documents, failures, job, list, output, records, retry, start};

/// This function's part of the document.
pub fn openapi() -> utoipa::openapi::OpenApi {
    Calls::openapi()
}

/// The order is that of the document and of the page made of it.
#[derive(OpenApi)]
#[openapi(
    paths(
        create::create,
        list::list,
        job::get,
        output::get,
        failures::list,
        audit::get,
        cancel::cancel,
        retry::retry,
        start::start,
        delete::delete,
        datasets::list,
        records::list,
        documents::openapi,
        documents::docs,
        documents::problems::kinds,
        documents::problems::kind,
    ),
    components(schemas(ImportOptions))
)]
struct Calls;
