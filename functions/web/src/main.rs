//! Wires `web`: the built page, and what it must know of this deployment.

use longshore::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    telemetry::init();
    web::serve().await
}
