//! Calls of services without their SDK: JSON, signed with Signature Version 4.
//!
//! The SDKs of CloudWatch and EventBridge are 13 MB of code for three calls that read something, and the first one
//! needs CBOR, which the local emulator does not read.

mod aws_metric;
mod metrics;
mod queue_ages;

use std::error::Error;
use std::time::{Duration, SystemTime};

use aws_sdk_s3::config::{Credentials, ProvideCredentials};
use aws_sdk_s3::primitives::{ByteStream, SdkBody};
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningParams, SigningSettings, sign};
use aws_sigv4::sign::v4;
use aws_smithy_runtime_api::client::http::{HttpConnector, SharedHttpConnector};
use aws_smithy_runtime_api::client::identity::Identity;
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_types::SdkConfig;
use serde_json::Value;

pub use aws_metric::AwsMetric;
pub use metrics::MetricQuery;

/// Number of times that a call is tried.
const TRIES: u32 = 3;

/// Delay before the second try; doubled before the third one.
const BACK_OFF: Duration = Duration::from_millis(500);

/// A service with a JSON protocol.
#[derive(Copy, Clone, Debug)]
pub struct Service {
    /// Name in signatures, which is also the first label of its host.
    name: &'static str,
    /// Prefix of the operation in `x-amz-target`.
    target: &'static str,
    content_type: &'static str,
}

/// CloudWatch.
/// <https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/making-api-requests.html>
pub const CLOUDWATCH: Service =
    Service { name: "monitoring", target: "GraniteServiceVersion20100801", content_type: "application/x-amz-json-1.0" };

/// EventBridge.
/// <https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_DescribeRule.html>
pub const EVENT_BRIDGE: Service =
    Service { name: "events", target: "AWSEvents", content_type: "application/x-amz-json-1.1" };

/// Error of a call.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The configuration has no region.
    #[error("no region is set")]
    NoRegion,
    /// There are no credentials.
    #[error("there are no credentials: {0}")]
    NoCredentials(String),
    /// The request could not be built or signed.
    #[error("the request cannot be signed")]
    Unsigned(#[source] Box<dyn Error + Send + Sync>),
    /// There was no response, or it ended early.
    #[error("{url} does not respond: {cause}")]
    NoResponse {
        /// URL of the service.
        url: String,
        /// The error with its causes.
        cause: String,
    },
    /// The service refused the call.
    #[error("{0}")]
    Refused(ServiceError),
    /// The response is not JSON.
    #[error("the answer of {operation} is not JSON")]
    NotJson {
        /// The operation.
        operation: String,
        /// The error.
        source: serde_json::Error,
    },
}

/// A client of services without an SDK.
#[derive(Clone, Debug)]
pub struct JsonClient {
    /// Region, credentials and, for an emulator, the endpoint.
    pub config: SdkConfig,
    /// The HTTP client.
    pub connector: SharedHttpConnector,
}

impl JsonClient {
    /// Calls an operation that only reads. Tries it again if the service does not respond, fails or throttles.
    ///
    /// # Errors
    /// If there are no credentials, or the service refuses the call or does not respond.
    pub async fn read(&self, service: &Service, operation: &str, body: &Value) -> Result<Value, CallError> {
        let url = endpoint(&self.config, service)?;
        let text = body.to_string().into_bytes();
        let mut retry = 0;
        loop {
            let call = Call { service, operation, url: &url, body: &text };
            let request = call.request(&self.config).await?;
            let error = match call.send(request, &self.connector).await {
                Ok(Reply { status: 200, body }) => {
                    return serde_json::from_slice(&body)
                        .map_err(|source| CallError::NotJson { operation: operation.to_owned(), source });
                }
                Ok(Reply { status, body }) => {
                    let error = ServiceError::read(status, &body);
                    if !error.is_transient() {
                        return Err(CallError::Refused(error));
                    }
                    CallError::Refused(error)
                }
                Err(error) => error,
            };
            if retry + 1 == TRIES {
                return Err(error);
            }
            tokio::time::sleep(BACK_OFF * 2_u32.pow(retry)).await;
            retry += 1;
        }
    }
}

/// Returns the URL of a service: that of the configuration, or that of AWS in its region.
fn endpoint(config: &SdkConfig, service: &Service) -> Result<String, CallError> {
    if let Some(url) = config.endpoint_url() {
        return Ok(format!("{}/", url.trim_end_matches('/')));
    }
    let region = config.region().ok_or(CallError::NoRegion)?;
    Ok(format!("https://{}/", host(service.name, region.as_ref())))
}

/// Returns the host of a service in a region.
/// <https://docs.aws.amazon.com/general/latest/gr/cw_region.html>
fn host(service: &str, region: &str) -> String {
    let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
    format!("{service}.{region}.{domain}")
}

/// One try of a call.
struct Call<'a> {
    service: &'a Service,
    operation: &'a str,
    url: &'a str,
    body: &'a [u8],
}

/// A response.
struct Reply {
    status: u16,
    body: Vec<u8>,
}

impl Call<'_> {
    /// Returns the request, signed now with the credentials of the configuration.
    async fn request(&self, config: &SdkConfig) -> Result<HttpRequest, CallError> {
        let provider = config.credentials_provider();
        let provider = provider.ok_or_else(|| CallError::NoCredentials("there is no provider".to_owned()))?;
        let credentials = provider.provide_credentials().await;
        let credentials = credentials.map_err(|error| CallError::NoCredentials(causes(&error)))?;
        let region = config.region().ok_or(CallError::NoRegion)?;
        self.signed(credentials, region.as_ref(), SystemTime::now()).map_err(CallError::Unsigned)
    }

    /// Sends a request. An error means that there is no complete response.
    async fn send(&self, request: HttpRequest, connector: &SharedHttpConnector) -> Result<Reply, CallError> {
        let response = connector.call(request).await.map_err(|error| self.no_response(&error))?;
        let status = response.status().as_u16();
        let body = ByteStream::new(response.into_body()).collect().await;
        Ok(Reply { status, body: body.map_err(|error| self.no_response(&error))?.to_vec() })
    }

    fn no_response(&self, error: &dyn Error) -> CallError {
        CallError::NoResponse { url: self.url.to_owned(), cause: causes(error) }
    }

    /// Returns the request with its signature.
    fn signed(
        &self,
        credentials: Credentials,
        region: &str,
        now: SystemTime,
    ) -> Result<HttpRequest, Box<dyn Error + Send + Sync>> {
        let headers = [
            ("content-type", self.service.content_type.to_owned()),
            ("x-amz-target", format!("{}.{}", self.service.target, self.operation)),
        ];
        let identity: Identity = credentials.into();
        let params = v4::SigningParams::builder().identity(&identity).region(region).name(self.service.name);
        let params = params.time(now).settings(SigningSettings::default()).build()?;
        let params = SigningParams::from(params);
        let signed_headers = headers.iter().map(|(name, value)| (*name, value.as_str()));
        let signable = SignableRequest::new("POST", self.url, signed_headers, SignableBody::Bytes(self.body))?;
        let (signature, _) = sign(signable, &params)?.into_parts();
        let mut request = HttpRequest::new(SdkBody::from(self.body.to_vec()));
        request.set_method("POST")?;
        request.set_uri(self.url)?;
        for (name, value) in headers {
            request.headers_mut().insert(name, value);
        }
        for (name, value) in signature.headers() {
            request.headers_mut().insert(name.to_owned(), value.to_owned());
        }
        Ok(request)
    }
}

/// Joins an error and its causes.
fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}

/// An error that a service returned.
#[derive(Debug, PartialEq, Eq)]
pub struct ServiceError {
    status: u16,
    code: String,
    message: String,
}

impl ServiceError {
    fn read(status: u16, body: &[u8]) -> Self {
        let document: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |name: &str| document[name].as_str();
        // The code can have a namespace before it, or a URL behind it.
        let code = text("__type").or(text("code")).and_then(|code| code.rsplit('#').next()?.split(':').next());
        let message = text("message").or(text("Message")).unwrap_or_default().to_owned();
        Self { status, code: code.map_or_else(|| format!("status {status}"), str::to_owned), message }
    }

    /// Returns true if the same call can succeed a moment later.
    fn is_transient(&self) -> bool {
        self.status >= 500 || self.status == 429 || self.code.contains("Throttl")
    }
}

impl std::fmt::Display for ServiceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.message.is_empty() { f.write_str(&self.code) } else { write!(f, "{}: {}", self.code, self.message) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_depends_on_the_partition() {
        assert_eq!(host("monitoring", "eu-central-1"), "monitoring.eu-central-1.amazonaws.com");
        assert_eq!(host("events", "cn-north-1"), "events.cn-north-1.amazonaws.com.cn");
    }

    #[test]
    fn a_request_is_signed_and_has_its_operation() {
        let body = br#"{"Name":"r"}"#;
        let url = "https://events.eu-central-1.amazonaws.com/";
        let call = Call { service: &EVENT_BRIDGE, operation: "DescribeRule", url, body };
        let credentials = Credentials::new("AKID", "secret", Some("session".to_owned()), None, "test");
        let request = call.signed(credentials, "eu-central-1", SystemTime::UNIX_EPOCH).unwrap();
        let header = |name: &str| request.headers().get(name).unwrap_or_default();
        assert_eq!(header("x-amz-target"), "AWSEvents.DescribeRule");
        assert_eq!(header("x-amz-security-token"), "session");
        let authorization = header("authorization");
        let expected = "AWS4-HMAC-SHA256 Credential=AKID/19700101/eu-central-1/events/aws4_request, SignedHeaders=";
        assert!(authorization.starts_with(expected), "{authorization}");
        assert!(authorization.contains("content-type;host;x-amz-date"), "{authorization}");
    }

    #[test]
    fn an_error_has_a_code_and_a_message() {
        let read = |status, text: &str| ServiceError::read(status, text.as_bytes());
        let denied = read(400, r#"{"__type":"com.amazon#AccessDeniedException","Message":"not authorized"}"#);
        assert_eq!(denied.to_string(), "AccessDeniedException: not authorized");
        assert!(!denied.is_transient());
        assert!(read(400, r#"{"__type":"ThrottlingException"}"#).is_transient());
        let other = read(503, "<html>");
        assert_eq!((other.to_string().as_str(), other.is_transient()), ("status 503", true));
    }
}
