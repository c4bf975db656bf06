//! The table of all limits, which `docs/aws-limits.md` shows as a page.

use super::limit::Limit;
use super::{api_gateway, dynamodb, lambda, s3, sqs};

/// Returns all limits, service by service.
pub fn table() -> impl Iterator<Item = &'static Limit> {
    [dynamodb::TABLE, sqs::TABLE, s3::TABLE, lambda::TABLE, api_gateway::TABLE].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::path::Path;

    use super::table;

    const HEAD: &str = "# Limits of AWS\n\n\
The limits that the adapters keep to. Those of DynamoDB, SQS and S3, but for throughput, are refused by the in-memory services \
and by the proxy in front of the local emulator. The proxy takes 13 % more processor time of the flows.\n\
Made from `shared/src/aws_limits` by `cargo xtask test --update`.\n\n\
| service | limit | value | meaning | source |\n| --- | --- | --- | --- | --- |\n";

    #[test]
    fn the_page_shows_the_table() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/aws-limits.md");
        let mut page = HEAD.to_owned();
        for limit in table() {
            let (meaning, value) = (limit.meaning.trim(), format!("{} {}", limit.value, limit.unit));
            writeln!(page, "| {} | `{}` | {value} | {meaning} | <{}> |", limit.service, limit.name, limit.source)
                .unwrap();
        }
        if std::env::var_os("LONGSHORE_UPDATE").is_some() {
            std::fs::write(&file, &page).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap_or_default(), page, "LONGSHORE_UPDATE=1 writes it anew");
    }

    #[test]
    fn every_limit_names_a_document_of_aws() {
        for limit in table() {
            assert!(limit.source.starts_with("https://docs.aws.amazon.com/"), "{limit:?}");
        }
    }
}
