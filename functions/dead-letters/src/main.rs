//! Wires `dead-letters`: the notes of the sweeper, and the queues of work.

use longshore::config::Aws;
use longshore::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    telemetry::init();
    dead_letters::serve(&Aws::from_env().await?).await
}
