//! Values of a metric of several resources, which CloudWatch tells.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{AwsMetric, CLOUDWATCH, CallError, JsonClient};

/// A query of a metric of several resources.
#[derive(Copy, Clone, Debug)]
pub struct MetricQuery<'a> {
    /// The metric.
    pub metric: AwsMetric,
    /// Value of the dimension that all resources share, such as the table of indexes, if the metric has one.
    pub within: Option<&'a str>,
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
        query: &MetricQuery<'_>,
        resources: &[&str],
    ) -> Result<BTreeMap<String, Vec<f64>>, CallError> {
        let answer = self.read(&CLOUDWATCH, "GetMetricData", &request(query, resources)).await?;
        Ok(values(resources, &answer))
    }
}

fn request(query: &MetricQuery<'_>, resources: &[&str]) -> Value {
    let of_resource = |(number, resource): (usize, &&str)| {
        let dimensions = query.metric.dimensions_of(query.within, resource);
        let dimensions: Vec<_> = dimensions.map(|(name, value)| json!({ "Name": name, "Value": value })).collect();
        let found = json!({
            "Namespace": query.metric.namespace(),
            "MetricName": query.metric.name(),
            "Dimensions": dimensions,
        });
        json!({ "Id": id(number), "MetricStat": { "Metric": found, "Period": 60, "Stat": query.statistic } })
    };
    let queries: Vec<_> = resources.iter().enumerate().map(of_resource).collect();
    json!({
        "MetricDataQueries": queries,
        "StartTime": query.since,
        "EndTime": query.until,
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
        let [metric, _] = AwsMetric::TABLE_THROTTLES;
        let query = MetricQuery { metric, within: None, statistic: "Sum", since: 400, until: 1_000 };
        let tables = ["a", "b", "c"];
        let asked = request(&query, &tables);
        let of_table = &asked["MetricDataQueries"][1];
        assert_eq!((&asked["StartTime"], &of_table["Id"]), (&json!(400), &json!("q1")));
        assert_eq!(of_table["MetricStat"]["Metric"]["Dimensions"], json!([{ "Name": "TableName", "Value": "b" }]));
        let [metric, _] = AwsMetric::INDEX_THROTTLES;
        let of_index = MetricQuery { metric, within: Some("t"), ..query };
        let asked = &request(&of_index, &["day"])["MetricDataQueries"][0]["MetricStat"]["Metric"]["Dimensions"];
        let expected = [("TableName", "t"), ("GlobalSecondaryIndexName", "day")];
        assert_eq!(*asked, json!(expected.map(|(name, value)| json!({ "Name": name, "Value": value }))));
        let answer =
            json!({ "MetricDataResults": [{ "Id": "q1", "Values": [3.0, 4.0] }, { "Id": "q0", "Values": [] }] });
        let expected = BTreeMap::from([("a".to_owned(), vec![]), ("b".to_owned(), vec![3.0, 4.0])]);
        assert_eq!(values(&tables, &answer), expected);
        assert_eq!(values(&tables, &json!({})), BTreeMap::new());
    }
}
