//! Entry point of `deliver`: the webhooks of Longshore on AWS.

use longshore::config::Aws;
use longshore::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    telemetry::init();
    deliver::serve(&Aws::from_env().await?).await
}
