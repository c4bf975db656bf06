//! Entry point of `dead-letters`: connects the dead-letter records and the work queues.

use longshore::config::Aws;
use longshore::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    telemetry::init();
    dead_letters::serve(&Aws::from_env().await?).await
}
