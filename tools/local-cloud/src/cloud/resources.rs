//! CloudFormation, Lambda and API Gateway: stacks, their outputs and resources; configuration, code and invocation of a
//! function; and the routes of an HTTP API.

use super::Cloud;
use crate::archive::{self, Compression, DOCUMENT, Entry, PROGRAM};
use anyhow::{Context, Result, ensure};
use aws_sdk_lambda::primitives::Blob;
use aws_sdk_lambda::types::{FunctionCode, Runtime};
use longshore_cli::aws::inventory::{Inventory, inventory};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Number of recent events that are searched for failures.
const EVENTS: usize = 200;

/// Maximum number of routes and of integrations that are read.
const PAGE: &str = "500";

/// Configuration of a deployed function.
#[derive(Clone, Debug)]
pub struct FunctionConfig {
    /// Environment variables as in the template, with references resolved.
    pub environment: BTreeMap<String, String>,
    /// Memory in MB. It determines the price of an invocation.
    pub memory_mb: u32,
}

impl Cloud {
    /// Reads a stack and its resources. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// If the emulator refuses the call.
    pub fn inventory(&self, name: &str) -> Result<Option<Inventory>> {
        self.block_on(inventory(&self.config, name))
    }

    /// Returns the events of a failed deployment, in the order of time. It is empty if there are none, or if they
    /// cannot be read.
    pub fn failures(&self, stack: &str) -> String {
        let call = self.cloudformation().describe_stack_events().stack_name(stack);
        let Ok(response) = self.block_on(call.send()) else { return String::new() };
        let events = response.stack_events().iter().take(EVENTS).rev();
        let failures = events.filter_map(|event| {
            let status = event.resource_status()?.as_str();
            let (id, reason) = (event.logical_resource_id()?, event.resource_status_reason().unwrap_or_default());
            (status.contains("FAILED") || status.contains("ROLLBACK")).then(|| format!("{status}  {id}  {reason}\n"))
        });
        failures.collect()
    }

    /// Returns the physical name of a resource of the template.
    ///
    /// # Errors
    /// If there is no such resource.
    pub fn physical_id(&self, stack: &str, resource: &str) -> Result<String> {
        let call = self.cloudformation().describe_stack_resource().stack_name(stack).logical_resource_id(resource);
        let response = self.block_on(call.send()).with_context(|| format!("no resource {resource}"))?;
        let id = response.stack_resource_detail.and_then(|detail| detail.physical_resource_id);
        id.with_context(|| format!("{resource} has no physical name"))
    }

    fn cloudformation(&self) -> aws_sdk_cloudformation::Client {
        aws_sdk_cloudformation::Client::new(&self.config)
    }
}

impl Cloud {
    /// Returns the configuration of a function.
    ///
    /// # Errors
    /// If there is no such function.
    pub fn function_config(&self, function: &str) -> Result<FunctionConfig> {
        let call = self.lambda().get_function_configuration().function_name(function);
        let config =
            self.block_on(call.send()).with_context(|| format!("cannot read the configuration of {function}"))?;
        let environment = config.environment.and_then(|environment| environment.variables).unwrap_or_default();
        let memory_mb = config.memory_size.map_or(Ok(128), u32::try_from)?;
        Ok(FunctionConfig { environment: environment.into_iter().collect(), memory_mb })
    }

    /// Replaces the code of a function with this binary.
    ///
    /// # Errors
    /// If the binary cannot be read, or the emulator refuses it.
    pub fn update_code(&self, function: &str, bootstrap: &Path) -> Result<()> {
        let binary = fs::read(bootstrap).with_context(|| format!("cannot read {}", bootstrap.display()))?;
        let call = self.lambda().update_function_code().function_name(function).zip_file(Blob::new(package(&binary)?));
        self.block_on(call.send()).with_context(|| format!("the emulator refused the code of {function}"))?;
        Ok(())
    }

    /// Creates a function in Python from these files, and the alias `live` of it. It has the role of this name.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn create_python_function(&self, name: &str, handler: &str, files: &[PathBuf], role: &str) -> Result<()> {
        let code = FunctionCode::builder().zip_file(Blob::new(zipped(files)?)).build();
        let call = self.lambda().create_function().function_name(name).handler(handler).runtime(Runtime::Python312);
        let call = call.code(code).role(format!("arn:aws:iam::000000000000:role/{role}")).timeout(120);
        self.block_on(call.send()).with_context(|| format!("the emulator refused the function {name}"))?;
        let alias = self.lambda().create_alias().function_name(name).name("live").function_version("$LATEST");
        self.block_on(alias.send()).with_context(|| format!("the emulator refused the alias of {name}"))?;
        Ok(())
    }

    /// Replaces the files of a function in Python, also behind its alias `live`.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn update_python_function(&self, name: &str, files: &[PathBuf]) -> Result<()> {
        let call = self.lambda().update_function_code().function_name(name).zip_file(Blob::new(zipped(files)?));
        self.block_on(call.send()).with_context(|| format!("the emulator refused the code of {name}"))?;
        Ok(())
    }

    /// Invokes a function and waits for its response.
    ///
    /// # Errors
    /// If it fails.
    pub fn invoke(&self, function: &str) -> Result<Value> {
        let call = self.lambda().invoke().function_name(function).payload(Blob::new("{}"));
        let response = self.block_on(call.send()).with_context(|| format!("cannot invoke {function}"))?;
        let payload = response.payload.map(Blob::into_inner).unwrap_or_default();
        ensure!(response.function_error.is_none(), "{function} failed: {}", String::from_utf8_lossy(&payload));
        Ok(serde_json::from_slice(&payload)?)
    }

    /// Enables or disables the mapping of a queue to a function.
    ///
    /// # Errors
    /// If the function has no mapping.
    pub fn enable_mapping(&self, function: &str, is_enabled: bool) -> Result<()> {
        let call = self.lambda().list_event_source_mappings().function_name(function);
        let mappings = self.block_on(call.send()).with_context(|| format!("cannot read the mapping of {function}"))?;
        let id = mappings.event_source_mappings().first().and_then(|mapping| mapping.uuid());
        let id = id.with_context(|| format!("{function} has no mapping"))?;
        let call = self.lambda().update_event_source_mapping().uuid(id).enabled(is_enabled);
        self.block_on(call.send()).with_context(|| format!("cannot change the mapping of {function}"))?;
        Ok(())
    }

    /// Creates a mapping of a queue to another function, and disables those that the queue has.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn divert_queue(&self, queue_arn: &str, function: &str) -> Result<()> {
        let call = self.lambda().list_event_source_mappings().event_source_arn(queue_arn);
        let mappings =
            self.block_on(call.send()).with_context(|| format!("cannot read the mappings of {queue_arn}"))?;
        for mapping in mappings.event_source_mappings() {
            let call = self.lambda().update_event_source_mapping().uuid(mapping.uuid().unwrap_or_default());
            self.block_on(call.enabled(false).send()).context("cannot disable a mapping")?;
        }
        let call = self.lambda().create_event_source_mapping().event_source_arn(queue_arn).function_name(function);
        self.block_on(call.send()).with_context(|| format!("cannot map {queue_arn} to {function}"))?;
        Ok(())
    }

    fn lambda(&self) -> aws_sdk_lambda::Client {
        aws_sdk_lambda::Client::new(&self.config)
    }
}

/// Returns an archive of files, without their folders.
fn zipped(files: &[PathBuf]) -> Result<Vec<u8>> {
    let mut read = Vec::new();
    for file in files {
        let name = file.file_name().context("a file has no name")?.to_string_lossy();
        read.push((name, fs::read(file).with_context(|| format!("cannot read {}", file.display()))?));
    }
    let entries: Vec<_> = read.iter().map(|(name, content)| Entry { name, content, mode: DOCUMENT }).collect();
    archive::write(&entries, Compression::Fast)
}

/// Creates a package with the binary as `bootstrap`. It is compressed quickly, because it is unpacked immediately. Equal
/// binaries have equal packages.
///
/// # Errors
/// If the binary has more than 4 GiB.
pub fn package(binary: &[u8]) -> Result<Vec<u8>> {
    archive::write(&[Entry { name: "bootstrap", content: binary, mode: PROGRAM }], Compression::Fast)
}

impl Cloud {
    /// Returns the API's routes, such as `POST /api/jobs` or `$default`, each with the name of its function.
    ///
    /// # Errors
    /// If the emulator refuses a call.
    pub fn routes(&self, api: &str) -> Result<BTreeMap<String, String>> {
        let client = aws_sdk_apigatewayv2::Client::new(&self.config);
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
    use super::{function_name, package};

    #[test]
    fn a_package_has_one_executable_and_is_reproducible() -> anyhow::Result<()> {
        let bytes = package(b"binary")?;
        assert_eq!(bytes, package(b"binary")?);
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes))?;
        assert_eq!(archive.len(), 1);
        let mut file = archive.by_name("bootstrap")?;
        assert_eq!(file.unix_mode().map(|mode| mode & 0o777), Some(0o755));
        let mut content = String::new();
        std::io::Read::read_to_string(&mut file, &mut content)?;
        assert_eq!(content, "binary");
        Ok(())
    }

    #[test]
    fn both_forms_of_a_uri_contain_the_name_of_the_function() {
        let arn = "arn:aws:lambda:us-east-1:000000000000:function:longshore-Web-1";
        let path = format!("arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/{arn}/invocations");
        for uri in [arn, &path, &format!("{arn}:live")] {
            assert_eq!(function_name(uri), "longshore-Web-1");
        }
    }
}
