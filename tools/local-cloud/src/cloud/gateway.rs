//! API Gateway: the routes of an HTTP API.

use super::Cloud;
use anyhow::{Context, Result};
use aws_sdk_apigatewayv2::Client;
use std::collections::BTreeMap;

/// Maximum number of routes and of integrations that are read.
const PAGE: &str = "500";

impl Cloud {
    /// Returns the API's routes, such as `POST /api/jobs` or `$default`, each with the name of its function.
    ///
    /// # Errors
    /// If the emulator refuses a call.
    pub fn routes(&self, api: &str) -> Result<BTreeMap<String, String>> {
        let client = Client::new(&self.config);
        let integrations = client.get_integrations().api_id(api).max_results(PAGE);
        let integrations = self.block_on(integrations.send()).context("cannot read the API's integrations")?;
        let targets: BTreeMap<String, String> = integrations
            .items()
            .iter()
            .filter_map(|integration| {
                let id = integration.integration_id()?;
                Some((format!("integrations/{id}"), function_name(integration.integration_uri()?).to_owned()))
            })
            .collect();
        let routes = client.get_routes().api_id(api).max_results(PAGE);
        let routes = self.block_on(routes.send()).context("cannot read the API's routes")?;
        let routes = routes.items().iter().filter_map(|route| {
            let target = targets.get(route.target().unwrap_or_default()).cloned().unwrap_or_default();
            Some((route.route_key()?.to_owned(), target))
        });
        Ok(routes.collect())
    }
}

/// Returns the function's name in the URI of an integration:
/// `arn:aws:apigateway:…:lambda:path/…/functions/ARN/invocations`, or the function's own ARN.
fn function_name(uri: &str) -> &str {
    let name = uri.rsplit("function:").next().unwrap_or(uri);
    name.split(['/', ':']).next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::function_name;

    #[test]
    fn both_forms_of_a_uri_contain_the_name_of_the_function() {
        let arn = "arn:aws:lambda:us-east-1:000000000000:function:longshore-Web-1";
        let path = format!("arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/{arn}/invocations");
        for uri in [arn, &path, &format!("{arn}:live")] {
            assert_eq!(function_name(uri), "longshore-Web-1");
        }
    }
}
