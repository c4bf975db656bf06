//! Lambda: configuration, code and invocation of a function.

use super::Cloud;
use anyhow::{Context, Result, ensure};
use aws_sdk_lambda::Client;
use aws_sdk_lambda::primitives::Blob;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Configuration of a deployed function.
#[derive(Clone, Debug)]
pub struct FunctionConfig {
    /// Environment variables as in the template, with references resolved.
    pub environment: BTreeMap<String, String>,
    /// Memory in MB. It determines the price of an invocation.
    pub memory_mb: u32,
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

    fn lambda(&self) -> Client {
        Client::new(&self.config)
    }
}

/// Creates a package with the binary as `bootstrap`. It is uncompressed, because it is unpacked immediately, and has a
/// fixed date, so that equal binaries have equal packages.
fn package(binary: &[u8]) -> Result<Vec<u8>> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o755);
    let mut package = ZipWriter::new(Cursor::new(Vec::with_capacity(binary.len() + 256)));
    package.start_file("bootstrap", options)?;
    package.write_all(binary)?;
    Ok(package.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use super::package;

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
}
