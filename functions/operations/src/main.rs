//! Entry point of `operations`: connects the records of all tenants and the work queues.

use longshore::config::Aws;
use longshore::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    telemetry::init();
    operations::serve(&Aws::from_env().await?).await
}
