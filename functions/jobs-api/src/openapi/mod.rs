//! OpenAPI metadata of this function's calls: parameters, refusals and examples. `shared/src/openapi` assembles the
//! document. The calls themselves are described beside their handlers.

pub(crate) mod examples;
pub(crate) mod parameters;
pub(crate) mod refusals;

use longshore::job_types::import::ImportOptions;
use utoipa::OpenApi;

use crate::{audit, cancel, create, datasets, delete, documents, failures, job, list, output, records, retry, start};

/// Returns this function's part of the OpenAPI document.
pub fn openapi() -> utoipa::openapi::OpenApi {
    Calls::openapi()
}

/// The order defines the order of the document and of its HTML page.
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
