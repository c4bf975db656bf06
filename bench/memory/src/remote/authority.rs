//! A certificate authority that is made for one run, and the TLS of a server and of a client that trusts it.

use std::sync::Arc;

use anyhow::Result;
use longshore_outbound::local::LocalOnly;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

/// Name of the server.
pub(super) const HOST: &str = "localhost";

/// A certificate authority.
pub(super) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(super) fn new() -> Result<Self> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name.push(DnType::CommonName, "bench");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Ok(Self(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?))
    }

    /// Returns the permissions of a local stack that trusts this authority.
    pub(super) fn local_only(&self) -> Result<LocalOnly> {
        Ok(LocalOnly::new("local", self.0.pem().as_bytes())?)
    }

    /// Returns the TLS of a server.
    pub(super) fn server(&self) -> Result<Arc<ServerConfig>> {
        let key = KeyPair::generate()?;
        let certificate = CertificateParams::new(vec![HOST.to_owned()])?.signed_by(&key, &self.0)?;
        let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(anyhow::Error::msg)?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions()?.with_no_client_auth();
        Ok(Arc::new(config.with_single_cert(vec![certificate.der().clone()], key)?))
    }

    /// Returns the TLS of a client.
    pub(super) fn client(&self) -> Result<Arc<ClientConfig>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone())?;
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions()?.with_root_certificates(roots);
        Ok(Arc::new(config.with_no_client_auth()))
    }
}
