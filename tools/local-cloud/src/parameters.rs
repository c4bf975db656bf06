//! Parameters of the local stack: those of samconfig.toml, with the architecture of this machine.

use anyhow::{Context, Result};
use deployment::settings::Settings;
use std::fs;
use std::path::Path;

/// Environment of samconfig.toml.
const ENVIRONMENT: &str = "local";

/// Returns the value of `--parameter-overrides` on this machine; `None` where that of samconfig.toml is right.
///
/// # Errors
/// If samconfig.toml cannot be read.
pub fn overrides(root: &Path) -> Result<Option<String>> {
    if cfg!(not(target_arch = "aarch64")) {
        return Ok(None);
    }
    let path = root.join("samconfig.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    with_architecture(&text, "arm64").map(Some)
}

/// Replaces the architecture in the parameters of the local environment. SAM would replace the list as a whole.
fn with_architecture(samconfig: &str, architecture: &str) -> Result<String> {
    let mut parameters = Settings::read(samconfig, ENVIRONMENT)?.parameters;
    parameters.insert("Architecture".to_owned(), architecture.to_owned());
    let pairs: Vec<_> = parameters.iter().map(|(name, value)| format!("{name}={}", quoted(value))).collect();
    Ok(pairs.join(" "))
}

fn quoted(value: &str) -> String {
    if value.contains(char::is_whitespace) { format!("\"{value}\"") } else { value.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMCONFIG: &str = include_str!("../../../samconfig.toml");

    #[test]
    fn only_the_architecture_differs_from_samconfig() -> Result<()> {
        let committed = Settings::read(SAMCONFIG, ENVIRONMENT)?.parameters;
        let mut passed = deployment::overrides::parse([with_architecture(SAMCONFIG, "arm64")?])?;
        assert_eq!(
            passed.insert("Architecture".to_owned(), committed["Architecture"].clone()).as_deref(),
            Some("arm64")
        );
        assert_eq!(passed, committed);
        assert_eq!(passed["ImageJobs"], "true");
        Ok(())
    }

    #[test]
    fn a_value_with_a_space_is_quoted() -> Result<()> {
        let text = "[local.deploy.parameters]\nparameter_overrides = \"OidcScope='openid email'\"\n";
        assert_eq!(with_architecture(text, "arm64")?, "Architecture=arm64 OidcScope=\"openid email\"");
        Ok(())
    }
}
