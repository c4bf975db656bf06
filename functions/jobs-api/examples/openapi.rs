//! Prints the OpenAPI document that the code describes. `cargo xtask openapi` writes it to `docs/openapi.json`.

use longshore::openapi::document;

fn main() -> Result<(), serde_json::Error> {
    let document = document([upload::openapi(), inspect::openapi(), jobs_api::openapi(), operations::openapi()]);
    println!("{}", serde_json::to_string_pretty(&document)?);
    Ok(())
}
