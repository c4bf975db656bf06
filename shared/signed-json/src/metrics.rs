//! Values of a metric of several resources, which CloudWatch tells.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{CLOUDWATCH, CallError, JsonClient};

/// A metric of several resources.
#[derive(Copy, Clone, Debug)]
pub struct Metric<'a> {
    /// Namespace, such as `AWS/SQS`.
    pub namespace: &'a str,
    /// Name of the metric.
    pub name: &'a str,
    /// Name of the dimension that names a resource.
    pub dimension: &'a str,
    /// Name and value of a further dimension, such as the table of an index.
    pub within: Option<(&'a str, &'a str)>,
    /// Statistic, such as `Maximum`.
    pub statistic: &'a str,
    /// Time in seconds from which on values are read.
    pub since: i64,
    /// Time in seconds until which values are read.
    pub until: i64,
}

impl JsonClient {
    /// Returns the values of each minute, newest first, by the name of the resource. At most 500 resources.
    ///
    /// # Errors
    /// If the call fails.
    pub async fn metric_values(
        &self,
        metric: &Metric<'_>,
        resources: &[&str],
    ) -> Result<BTreeMap<String, Vec<f64>>, CallError> {
        let answer = self.read(&CLOUDWATCH, "GetMetricData", &request(metric, resources)).await?;
        Ok(values(resources, &answer))
    }
}

fn request(metric: &Metric<'_>, resources: &[&str]) -> Value {
    let query = |(number, resource): (usize, &&str)| {
        let dimensions = metric.within.into_iter().chain([(metric.dimension, *resource)]);
        let dimensions: Vec<_> = dimensions.map(|(name, value)| json!({ "Name": name, "Value": value })).collect();
        let found = json!({
            "Namespace": metric.namespace,
            "MetricName": metric.name,
            "Dimensions": dimensions,
        });
        json!({ "Id": id(number), "MetricStat": { "Metric": found, "Period": 60, "Stat": metric.statistic } })
    };
    let queries: Vec<_> = resources.iter().enumerate().map(query).collect();
    json!({
        "MetricDataQueries": queries,
        "StartTime": metric.since,
        "EndTime": metric.until,
        "ScanBy": "TimestampDescending",
    })
}

fn values(resources: &[&str], answer: &Value) -> BTreeMap<String, Vec<f64>> {
    let results = answer["MetricDataResults"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of = |(number, resource): (usize, &&str)| {
        let result = results.iter().find(|result| result["Id"] == id(number))?;
        let values = result["Values"].as_array()?.iter().filter_map(Value::as_f64).collect();
        Some(((*resource).to_owned(), values))
    };
    resources.iter().enumerate().filter_map(of).collect()
}

/// Returns the id of a query: it begins with a lower-case character.
fn id(number: usize) -> String {
    format!("q{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_resource_has_the_values_of_its_query() {
        let metric = Metric {
            namespace: "AWS/DynamoDB",
            name: "ReadThrottleEvents",
            dimension: "TableName",
            within: None,
            statistic: "Sum",
            since: 400,
            until: 1_000,
        };
        let tables = ["a", "b", "c"];
        let asked = request(&metric, &tables);
        let query = &asked["MetricDataQueries"][1];
        assert_eq!((&asked["StartTime"], &query["Id"]), (&json!(400), &json!("q1")));
        assert_eq!(query["MetricStat"]["Metric"]["Dimensions"], json!([{ "Name": "TableName", "Value": "b" }]));
        let index = Metric { dimension: "GlobalSecondaryIndexName", within: Some(("TableName", "t")), ..metric };
        let asked = &request(&index, &["day"])["MetricDataQueries"][0]["MetricStat"]["Metric"]["Dimensions"];
        let expected = [("TableName", "t"), ("GlobalSecondaryIndexName", "day")];
        assert_eq!(*asked, json!(expected.map(|(name, value)| json!({ "Name": name, "Value": value }))));
        let answer =
            json!({ "MetricDataResults": [{ "Id": "q1", "Values": [3.0, 4.0] }, { "Id": "q0", "Values": [] }] });
        let expected = BTreeMap::from([("a".to_owned(), vec![]), ("b".to_owned(), vec![3.0, 4.0])]);
        assert_eq!(values(&tables, &answer), expected);
        assert_eq!(values(&tables, &json!({})), BTreeMap::new());
    }
}
