//! Access: mandatory settings, so that an omission neither admits a caller nor makes one an operator.

use super::{ConfigError, text};
use crate::http::{Access, Operators};

const ACCESS: &str = "LONGSHORE_ACCESS";

const TENANT_CLAIM: &str = "LONGSHORE_TENANT_CLAIM";

/// Returns the access rules: `LONGSHORE_ACCESS` (`cognito`, `oidc` or `open`) and, unless it is open,
/// `LONGSHORE_TENANT_CLAIM`.
///
/// # Errors
/// If one is missing, or the first has none of the three values.
pub fn access() -> Result<Access, ConfigError> {
    read(&text(ACCESS)?, text(TENANT_CLAIM))
}

fn read(access: &str, tenant_claim: Result<String, ConfigError>) -> Result<Access, ConfigError> {
    match access {
        "open" => Ok(Access::Open),
        "cognito" | "oidc" => Ok(Access::SignedIn { tenant_claim: tenant_claim? }),
        _ => Err(ConfigError::Invalid { name: ACCESS, expected: "cognito, oidc or open" }),
    }
}

/// Returns the rule that identifies operators: `LONGSHORE_OPERATOR_CLAIM`, `LONGSHORE_OPERATOR_GROUP` and, if there are
/// read-only operators, `LONGSHORE_READ_ONLY_OPERATOR_GROUP`.
///
/// # Errors
/// If one of the first two is missing.
pub fn operators() -> Result<Operators, ConfigError> {
    let read_only_group = text("LONGSHORE_READ_ONLY_OPERATOR_GROUP").ok();
    Ok(Operators {
        claim: text("LONGSHORE_OPERATOR_CLAIM")?,
        group: text("LONGSHORE_OPERATOR_GROUP")?,
        read_only_group,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_is_open_only_if_set_explicitly() {
        let (claim, missing) = (Ok("sub".to_owned()), Err(ConfigError::Missing(TENANT_CLAIM)));
        let signed_in = Access::SignedIn { tenant_claim: "sub".into() };
        assert_eq!(read("open", missing.clone()), Ok(Access::Open));
        assert_eq!(read("cognito", claim.clone()), Ok(signed_in.clone()));
        assert_eq!(read("oidc", claim.clone()), Ok(signed_in));
        assert_eq!(read("cognito", missing), Err(ConfigError::Missing(TENANT_CLAIM)));
        assert!(read("Open", claim).is_err());
        assert_eq!(access(), Err(ConfigError::Missing(ACCESS)));
    }
}
