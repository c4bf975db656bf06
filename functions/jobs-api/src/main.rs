//! Entry point of `jobs-api`: Longshore's built-in job types on AWS.

use longshore::config::{self, Aws};
use longshore::job_types::builtin;
use longshore::job_types::image::image_registration;
use longshore::remote::RegisteredType;
use longshore::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    telemetry::init();
    let aws = Aws::from_env().await?;
    let registry = builtin(aws.records()?, aws.files()?);
    let registry = match config::image_function()? {
        Some(function) => registry.with_registered(RegisteredType::new(image_registration(function))),
        None => registry,
    };
    jobs_api::serve(&aws, registry).await
}
