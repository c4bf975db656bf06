//! The URL of an item: the item itself, or the value of its column.

use longshore_outbound::public_url::{PublicUrl, PublicUrls};
use longshore_outbound::url::UrlError;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::answer::Rejected;
use crate::reject::{missing_url, refused_url};

/// An image to be downloaded.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(crate) struct Source {
    /// The URL.
    pub(crate) url: PublicUrl,
    /// The column with the URL, if the item has columns.
    pub(crate) field: Option<String>,
}

/// Reads the URL of an item.
pub(crate) fn source(value: &RawValue, column: &str, allowed: &PublicUrls) -> Result<Source, Rejected> {
    let value: Value = serde_json::from_str(value.get()).unwrap_or_default();
    let (text, field) = match &value {
        Value::String(text) => (text.as_str(), None),
        Value::Object(members) => {
            (members.get(column).and_then(Value::as_str).unwrap_or_default(), Some(column.to_owned()))
        }
        _ => ("", None),
    };
    // Cells of spreadsheets often have spaces around their text.
    let text = text.trim();
    if text.is_empty() {
        return Err(missing_url(field));
    }
    let url = allowed.parse(text).map_err(|error: UrlError| refused_url(&error, field.clone()))?;
    Ok(Source { url, field })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    fn read(value: &Value) -> Result<String, (&'static str, Option<String>)> {
        let source = source(&to_raw_value(value).unwrap(), "photo", &PublicUrls::default());
        source.map(|source| source.url.to_string()).map_err(|rejected| (rejected.code, rejected.field))
    }

    #[test]
    fn a_url_is_the_item_or_the_value_of_its_column() {
        let url = "https://example.com/a.jpg";
        for value in [json!(url), json!({ "photo": url, "url": "x" }), json!({ "photo": format!(" {url}\t") })] {
            assert_eq!(read(&value), Ok(url.to_owned()), "{value}");
        }
    }

    #[test]
    fn an_item_without_a_usable_url_is_rejected_with_its_column() {
        let photo = || Some("photo".to_owned());
        for (value, code, field) in [
            (json!({ "url": "https://example.com/" }), "url_missing", photo()),
            (json!({ "photo": "" }), "url_missing", photo()),
            (json!({ "photo": null }), "url_missing", photo()),
            (json!({ "photo": 7 }), "url_missing", photo()),
            (json!({ "photo": "example.com/a" }), "url_invalid", photo()),
            (json!(" "), "url_missing", None),
            (json!(7), "url_missing", None),
            (json!("http://example.com/"), "url_invalid", None),
            (json!("https://exa mple.com/"), "url_invalid", None),
            (json!("https://127.0.0.1/"), "url_not_allowed", None),
            (json!("https://localhost/"), "url_not_allowed", None),
            (json!("https://example.com:8443/"), "url_not_allowed", None),
        ] {
            assert_eq!(read(&value), Err((code, field)), "{value}");
        }
    }

    #[test]
    fn json_that_cannot_be_read_is_a_missing_url() {
        let value = RawValue::from_string(r#""\ud800""#.to_owned()).unwrap();
        assert_eq!(source(&value, "url", &PublicUrls::default()).unwrap_err().code, "url_missing");
    }
}
