//! Metrics of AWS that are read. Only this module names them, so that a test of the template can compare all of them
//! with the metrics that AWS documents.

/// A metric that a service of AWS publishes for each of its resources.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct AwsMetric {
    namespace: &'static str,
    name: &'static str,
    /// Name of a dimension with one value for all resources of a query, such as the table of indexes.
    within: Option<&'static str>,
    /// Name of the dimension that names a resource.
    dimension: &'static str,
}

impl AwsMetric {
    /// Age of the oldest message of a queue, in seconds.
    pub const QUEUE_AGE: Self =
        Self { namespace: "AWS/SQS", name: "ApproximateAgeOfOldestMessage", within: None, dimension: "QueueName" };

    /// Throttled reads of a table, and throttled writes. They do not include those of its indexes.
    /// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html>
    pub const TABLE_THROTTLES: [Self; 2] =
        [Self::of_table("ReadThrottleEvents"), Self::of_table("WriteThrottleEvents")];

    /// Throttled reads of an index of a table, and throttled writes.
    pub const INDEX_THROTTLES: [Self; 2] = [Self::TABLE_THROTTLES[0].of_index(), Self::TABLE_THROTTLES[1].of_index()];

    /// All metrics that are read.
    pub const ALL: [Self; 5] = [
        Self::QUEUE_AGE,
        Self::TABLE_THROTTLES[0],
        Self::TABLE_THROTTLES[1],
        Self::INDEX_THROTTLES[0],
        Self::INDEX_THROTTLES[1],
    ];

    const fn of_table(name: &'static str) -> Self {
        Self { namespace: "AWS/DynamoDB", name, within: None, dimension: "TableName" }
    }

    const fn of_index(self) -> Self {
        Self { within: Some("TableName"), dimension: "GlobalSecondaryIndexName", ..self }
    }

    /// Returns the namespace.
    pub fn namespace(self) -> &'static str {
        self.namespace
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Returns the names of the dimensions.
    pub fn dimensions(self) -> impl Iterator<Item = &'static str> {
        self.within.into_iter().chain([self.dimension])
    }

    /// Returns the dimensions of a resource: their names and values. `within` is the value that all resources share.
    pub(crate) fn dimensions_of<'a>(
        self,
        within: Option<&'a str>,
        resource: &'a str,
    ) -> impl Iterator<Item = (&'static str, &'a str)> {
        self.within.zip(within).into_iter().chain([(self.dimension, resource)])
    }
}
