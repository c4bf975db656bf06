//! Codes and texts of items that fail. A code never changes: jobs count failures by code, and a retry can select one.

use longshore_images::Rejection;
use longshore_images::limits::FILE_BYTES;
use longshore_outbound::url::UrlError;

use crate::answer::Rejected;

const MIB: usize = 1024 * 1024;

/// Rejects an item without a URL.
pub(crate) fn missing_url(field: Option<String>) -> Rejected {
    let message = match &field {
        Some(column) => format!("The column \"{column}\" has no URL. Write the URL of an image into it."),
        None => "The item is no URL. Use the URL of an image, or an object with a column for it.".to_owned(),
    };
    Rejected { code: "url_missing", field, message }
}

/// Rejects a URL that is not accepted.
pub(crate) fn refused_url(error: &UrlError, field: Option<String>) -> Rejected {
    let (code, message) = match error {
        UrlError::NumericHost | UrlError::HostName(_) | UrlError::UserInfo => ("url_not_allowed", error.to_string()),
        UrlError::HostNotAllowed(host) => {
            ("url_not_allowed", format!("The host \"{host}\" is not public. Use a public host."))
        }
        UrlError::PortNotAllowed(port) => ("url_not_allowed", format!("Port {port} is not allowed. Use port 443.")),
        _ => ("url_invalid", error.to_string()),
    };
    Rejected { code, field, message }
}

/// Rejects a file that cannot be converted.
pub(crate) fn refused_image(rejection: &Rejection, field: Option<String>) -> Rejected {
    let code = match rejection.code() {
        "too_large" => "image_too_large",
        "too_many_pixels" => "image_dimensions",
        "damaged_image" => "image_damaged",
        "unsupported_type" => "image_unsupported",
        other => other,
    };
    Rejected { code, field, message: rejection.to_string() }
}

/// Rejects a file that is larger than any image may be, without reading it to its end.
pub(crate) fn too_large(field: Option<String>) -> Rejected {
    let message = format!("The file has more than {} MiB. Use a smaller or more compressed image.", FILE_BYTES / MIB);
    Rejected { code: "image_too_large", field, message }
}

/// Rejects a file that its server does not give out.
pub(crate) fn refused_status(status: u16, field: Option<String>) -> Rejected {
    let (code, message) = match status {
        404 | 410 => ("not_found", format!("The server has no file at this URL (status {status}). Check the URL.")),
        401 | 402 | 403 | 407 | 451 => {
            ("access_denied", format!("The server refuses access (status {status}). Make the file public."))
        }
        _ => ("unexpected_status", format!("The server answered status {status} instead of a file. Check the URL.")),
    };
    Rejected { code, field, message }
}
