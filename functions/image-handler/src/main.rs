//! Entry point of `image-handler`.

use longshore::config::Aws;
use longshore::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    telemetry::init();
    let aws = Aws::from_env().await?;
    image_handler::serve(aws.files()?).await
}
