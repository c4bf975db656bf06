//! Entry point of `web`: the built page and the settings of this deployment.

use longshore::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    telemetry::init();
    web::serve().await
}
