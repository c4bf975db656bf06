//! The permissions of a local stack: an extra root certificate, and calls to the host itself.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// The template's `Environment` of a local stack.
const LOCAL: &str = "local";

/// Proof that this is a local stack. It permits loopback addresses, the host `localhost` and an extra root certificate.
///
/// It can be created only for the environment `local`, and has no default: a deployment to AWS has another environment,
/// so that it never holds this value, whatever its other parameters are.
#[derive(Debug)]
pub struct LocalOnly {
    roots: Vec<CertificateDer<'static>>,
}

/// The refusal of local permissions.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum LocalOnlyError {
    /// The stack is not local.
    #[error("An extra root certificate and calls to loopback addresses are for the environment \"local\" only.")]
    NotLocal,
    /// The certificates cannot be read.
    #[error("The root certificates of the local stack are not valid PEM: {0}")]
    Certificates(String),
}

impl LocalOnly {
    /// Creates the permissions from the stack's environment and the extra root certificates in PEM.
    ///
    /// # Errors
    /// Returns an error if the environment is not `local`, or if there is no certificate.
    pub fn new(environment: &str, roots_pem: &[u8]) -> Result<Self, LocalOnlyError> {
        if environment != LOCAL {
            return Err(LocalOnlyError::NotLocal);
        }
        let roots = CertificateDer::pem_slice_iter(roots_pem).collect::<Result<Vec<_>, _>>();
        let roots = roots.map_err(|error| LocalOnlyError::Certificates(error.to_string()))?;
        if roots.is_empty() {
            return Err(LocalOnlyError::Certificates("there is none".to_owned()));
        }
        Ok(Self { roots })
    }

    pub(crate) fn into_roots(self) -> Vec<CertificateDer<'static>> {
        self.roots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_environment_local_has_local_permissions() {
        for environment in ["production", "small", "", "Local", "local ", "localhost"] {
            assert_eq!(LocalOnly::new(environment, b"").unwrap_err(), LocalOnlyError::NotLocal, "{environment}");
        }
        for pem in ["", "none", "-----BEGIN CERTIFICATE-----\n?\n-----END CERTIFICATE-----\n"] {
            let refused = LocalOnly::new("local", pem.as_bytes()).unwrap_err();
            assert!(matches!(refused, LocalOnlyError::Certificates(_)), "{pem}");
        }
    }
}
