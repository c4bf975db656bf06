//! Entry point of `call-handler`: the registered job types of Longshore on AWS.

use longshore::config::Aws;
use longshore::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    telemetry::init();
    call_handler::serve(&Aws::from_env().await?).await
}
