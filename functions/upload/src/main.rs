//! Entry point of `upload`: connects the table of uploads and the bucket whose URLs are signed.

use longshore::config::Aws;
use longshore::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    telemetry::init();
    upload::serve(&Aws::from_env().await?).await
}
