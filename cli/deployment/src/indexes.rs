//! Changes of a table's indexes that DynamoDB refuses: it adds or removes one in each update of a table.
//! <https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-dynamodb-table.html>

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::finding::Finding;
use crate::settings::Settings;
use crate::template::Template;

/// Resource type of a table.
pub const TABLE: &str = "AWS::DynamoDB::Table";

/// Document with the way out.
const GUIDE: &str = "docs/guides/deploying.md";

/// Names of the indexes of each table of a stack, by the table's id in the template.
pub type TableIndexes = BTreeMap<String, BTreeSet<String>>;

/// Lists the tables of the deployed stack of which an update adds and removes more than one index together.
pub fn findings(template: &Template, settings: &Settings, deployed: &TableIndexes) -> Vec<Finding> {
    let values = settings.effective(template);
    let tables = template.of_type(TABLE).filter_map(|(id, table)| {
        let after = names(&template.resolve(&table["GlobalSecondaryIndexes"], &values));
        refused(id, deployed.get(id)?, &after)
    });
    tables.collect()
}

/// Returns the names of the declared indexes.
fn names(indexes: &Value) -> BTreeSet<String> {
    let indexes = indexes.as_array().into_iter().flatten();
    indexes.filter_map(|index| index["IndexName"].as_str()).map(str::to_owned).collect()
}

fn refused(id: &str, before: &BTreeSet<String>, after: &BTreeSet<String>) -> Option<Finding> {
    let added = after.difference(before).map(|name| format!("adds {name}"));
    let removed = before.difference(after).map(|name| format!("removes {name}"));
    let changes: Vec<_> = added.chain(removed).collect();
    (changes.len() > 1).then(|| {
        let changes = changes.join(", ");
        let problem = format!("DynamoDB refuses to change more than one index in an update, and this one {changes}");
        let fix = format!(
            "first deploy a template with only one of these changes, and so on until only one is left, then this \
             template: {GUIDE} names the order"
        );
        Finding::error(id, problem, fix).with_document(Some(GUIDE.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = "
Parameters: { HasDay: { Default: 'true' } }
Conditions: { HasDay: !Equals [!Ref HasDay, 'true'] }
Resources:
  Jobs:
    Type: AWS::DynamoDB::Table
    Properties:
      GlobalSecondaryIndexes: [{ IndexName: due }, !If [HasDay, { IndexName: day }, !Ref AWS::NoValue]]
  Records: { Type: AWS::DynamoDB::Table, Properties: {} }
";

    fn problems(deployed: &[(&str, &[&str])]) -> anyhow::Result<Vec<String>> {
        let table = |(id, names): &(&str, &[&str])| {
            let names: BTreeSet<_> = names.iter().map(|name| (*name).to_owned()).collect();
            ((*id).to_owned(), names)
        };
        let deployed: TableIndexes = deployed.iter().map(table).collect();
        let found = findings(&Template::parse(TEMPLATE)?, &Settings::default(), &deployed);
        Ok(found.into_iter().map(|finding| format!("{}: {}", finding.location, finding.problem)).collect())
    }

    #[test]
    fn more_than_one_change_of_the_indexes_is_an_error() -> anyhow::Result<()> {
        let rows: [(&str, &[&str], Option<&str>); 8] = [
            ("Jobs", &["day", "due"], None),
            ("Jobs", &["day"], None),
            ("Jobs", &["day", "due", "tenant"], None),
            ("Jobs", &[], Some("adds day, adds due")),
            ("Jobs", &["due", "tenant"], Some("adds day, removes tenant")),
            ("Jobs", &["day", "due", "old", "tenant"], Some("removes old, removes tenant")),
            ("Records", &["a"], None),
            ("Gone", &["a", "b"], None),
        ];
        for (id, names, expected) in rows {
            let problems = problems(&[(id, names)])?;
            let refused = "DynamoDB refuses to change more than one index in an update, and this one";
            let expected = expected.map(|changes| format!("{id}: {refused} {changes}"));
            assert_eq!(problems, Vec::from_iter(expected), "{names:?}");
        }
        Ok(())
    }

    #[test]
    fn a_table_that_is_created_can_have_any_indexes() -> anyhow::Result<()> {
        assert_eq!(problems(&[])?, [""; 0]);
        Ok(())
    }
}
