//! The handlers that registrations may name: lists that the stack's owner sets. A missing or empty list permits none.

use data_encoding::BASE64;
use longshore_domain::registration::{AllowedFunctions, FunctionAlias};

use super::variable::parsed;
use super::{ConfigError, names, text};

/// Beginning of a certificate in PEM.
const PEM_BEGIN: &str = "-----BEGIN CERTIFICATE-----";

const FUNCTIONS: &str = "LONGSHORE_HANDLER_FUNCTIONS";
const HOSTS: &str = "LONGSHORE_HANDLER_HOSTS";
const PORTS: &str = "LONGSHORE_HANDLER_PORTS";
const IMAGE: &str = "LONGSHORE_IMAGE_FUNCTION";

/// Name of the running function, which Lambda sets.
const OWN_FUNCTION: &str = "AWS_LAMBDA_FUNCTION_NAME";

/// Returns the allowed Lambda functions, without those of this stack: `LONGSHORE_HANDLER_FUNCTIONS`, ARNs of aliases
/// separated by commas.
///
/// # Errors
/// If an entry is not the ARN of an alias.
pub fn handler_functions() -> Result<AllowedFunctions, ConfigError> {
    read_functions(&optional(FUNCTIONS), &optional(OWN_FUNCTION))
}

/// Returns the hosts of endpoints, names or `*.` and a domain: `LONGSHORE_HANDLER_HOSTS`, separated by commas.
pub fn handler_hosts() -> Vec<String> {
    entries(&optional(HOSTS)).map(str::to_owned).collect()
}

/// Returns the ports of endpoints besides 443: `LONGSHORE_HANDLER_PORTS`, separated by commas.
///
/// # Errors
/// If an entry is not a port.
pub fn handler_ports() -> Result<Vec<u16>, ConfigError> {
    read_ports(&optional(PORTS))
}

/// Returns the extra root certificates of endpoints as PEM, if there are any: `LONGSHORE_HANDLER_CA`, as PEM, also with
/// `\n` for line ends, or as its base64.
///
/// # Errors
/// If the value is neither.
pub fn handler_ca() -> Result<Option<Vec<u8>>, ConfigError> {
    text(names::HANDLER_CA).ok().map(|value| read_pem(&value)).transpose()
}

fn read_pem(value: &str) -> Result<Vec<u8>, ConfigError> {
    if value.contains(PEM_BEGIN) {
        return Ok(value.replace("\\n", "\n").into_bytes());
    }
    let invalid = ConfigError::Invalid { name: names::HANDLER_CA, expected: "certificates in PEM, or their base64" };
    let decoded = BASE64.decode(value.trim().as_bytes()).ok();
    decoded.filter(|pem| String::from_utf8_lossy(pem).contains(PEM_BEGIN)).ok_or(invalid)
}

/// Returns the maximum number of concurrent chunks of one registered type: `LONGSHORE_HANDLER_CHUNKS_PER_TYPE`.
///
/// # Errors
/// If it is missing or not a number.
pub fn handler_chunks_per_type() -> Result<u32, ConfigError> {
    parsed("LONGSHORE_HANDLER_CHUNKS_PER_TYPE")
}

/// Returns the function of the job type `image`, `LONGSHORE_IMAGE_FUNCTION`: the ARN of its alias. `None` if the stack has
/// none.
///
/// # Errors
/// If it is not the ARN of an alias.
pub fn image_function() -> Result<Option<FunctionAlias>, ConfigError> {
    read_function(&optional(IMAGE))
}

fn optional(name: &'static str) -> String {
    text(name).unwrap_or_default()
}

fn entries(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|entry| !entry.is_empty())
}

fn read_functions(list: &str, own_function: &str) -> Result<AllowedFunctions, ConfigError> {
    let allowed = AllowedFunctions::read(list);
    let allowed = allowed.map_err(|_| ConfigError::Invalid { name: FUNCTIONS, expected: "ARNs of aliases" })?;
    let stack =
        AllowedFunctions::OWN.into_iter().find_map(|function| own_function.strip_suffix(&format!("-{function}")));
    Ok(match stack {
        Some(stack) => allowed.without_stack(stack),
        None => allowed,
    })
}

fn read_function(arn: &str) -> Result<Option<FunctionAlias>, ConfigError> {
    let parse =
        |arn| FunctionAlias::parse(arn).map_err(|_| ConfigError::Invalid { name: IMAGE, expected: "ARN of an alias" });
    (!arn.is_empty()).then(|| parse(arn)).transpose()
}

fn read_ports(list: &str) -> Result<Vec<u16>, ConfigError> {
    let ports: Result<_, _> = entries(list).map(str::parse).collect();
    ports.map_err(|_| ConfigError::Invalid { name: PORTS, expected: "port numbers" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_list_permits_no_function_and_a_malformed_one_is_an_error() {
        let arn = "arn:aws:lambda:eu-central-1:123456789012:function:prod-web:live";
        let alias = FunctionAlias::parse(arn).unwrap();
        for (list, own, permitted) in [
            ("", "prod-jobs-api", false),
            (arn, "", true),
            (arn, "test-jobs-api", true),
            (arn, "prod-jobs-api", false),
            (arn, "prod-call-handler", false),
        ] {
            assert_eq!(read_functions(list, own).unwrap().permits(&alias), permitted, "{list} {own}");
        }
        let invalid = ConfigError::Invalid { name: FUNCTIONS, expected: "ARNs of aliases" };
        assert_eq!(read_functions("prod-web", ""), Err(invalid));
        assert!(!handler_functions().unwrap().permits(&alias) && handler_hosts().is_empty());
    }

    #[test]
    fn the_function_of_image_jobs_is_an_alias_or_absent() {
        let arn = "arn:aws:lambda:eu-central-1:123456789012:function:prod-image-handler:live";
        assert_eq!(read_function(arn), Ok(Some(FunctionAlias::parse(arn).unwrap())));
        assert_eq!((read_function(""), image_function()), (Ok(None), Ok(None)));
        assert!(read_function("prod-image-handler").is_err());
    }

    #[test]
    fn ports_are_numbers_separated_by_commas() {
        assert_eq!(read_ports(" 8443, 9443 ,"), Ok(vec![8443, 9443]));
        assert_eq!((read_ports(""), handler_ports()), (Ok(vec![]), Ok(vec![])));
        assert!(read_ports("8443;9443").is_err() && read_ports("70000").is_err());
    }

    #[test]
    fn certificates_are_pem_with_either_line_ends_or_base64() {
        let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for value in [pem.to_owned(), pem.replace('\n', "\\n"), BASE64.encode(pem.as_bytes())] {
            assert_eq!(read_pem(&value).as_deref(), Ok(pem.as_bytes()), "{value}");
        }
        for value in ["none", "AAAA", "-----BEGIN"] {
            assert!(read_pem(value).is_err(), "{value}");
        }
        assert_eq!(handler_ca(), Ok(None));
    }
}
