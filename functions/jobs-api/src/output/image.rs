//! `GET /api/jobs/{jobId}/images/{file}`: the stable address of a file of an image job.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use longshore::http::{Answer, PathTexts, Tenant};
use longshore::image_file::ImageFile;
use longshore::job_types::image;
use longshore::openapi::{CacheNoStore, OneUrl};
use longshore::ports::JobFolder;
use longshore::problem::Problem;
use longshore_domain::ports::{DownloadUrls, Files};

use super::linker::LINK_SECONDS;
use crate::backend::{Api, Backend};
use crate::jobs::find::find_job;
use crate::openapi::parameters::{ImageInPath, JobIdInPath};
use crate::openapi::refusals::ImageRefusals;

/// Redirects to a file of an image job. The job may still run: a file is stored before its item succeeds.
#[utoipa::path(
    get,
    path = "/api/jobs/{jobId}/images/{file}",
    operation_id = "getJobImage",
    tag = "jobs",
    summary = "Download a file of an image job.",
    description = "The addresses are in the outputs of the items. An address stays valid until the job is removed; the URL to \
        which it redirects expires after 15 minutes. Follow the redirect without the `Authorization` header.",
    params(JobIdInPath, ImageInPath),
    responses(
        (
            status = 303,
            description = "The file, at a URL that expires after 15 minutes.",
            headers(
                ("Location" = inline(OneUrl), description = "Presigned URL."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
        ),
        ImageRefusals,
    ),
)]
pub(crate) async fn get<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    tenant: Tenant,
    PathTexts(id, name): PathTexts,
) -> Answer {
    let job = find_job(&api.ports.store, &tenant, &id, (api.clock)()).await?;
    let file = ImageFile::parse(&name).filter(|_| job.job_type == image::NAME);
    let key = file.map(|file| JobFolder::for_job(&job).image_key(&file)).ok_or_else(|| Problem::not_found("image"))?;
    let files = &api.ports.files;
    // Without this check, S3 answers the redirect with an error in XML.
    if files.info(&key).await?.is_none() {
        return Err(Problem::not_found("image").into());
    }
    let url = files.download_url(&key, &name, LINK_SECONDS.unsigned_abs()).await?;
    Ok((StatusCode::SEE_OTHER, [(header::LOCATION, url), (header::CACHE_CONTROL, "no-store".to_owned())])
        .into_response())
}
