//! The position of the sweeps, one item.

use longshore_domain::ids::JobId;
use longshore_domain::ports::{JobPosition, PortResult, Sweeps};
use longshore_domain::time_stamp::Timestamp;

use super::item::{Item, ItemError, read_number, read_text, text, time};
use super::keys::Key;
use super::update::Update;
use super::{DynamoStore, failed};

const JOB_ID: &str = "jobId";
const AGE: &str = "age";

impl Sweeps for DynamoStore {
    /// Consistent GetItem of `SWEEP` / `POSITION`.
    async fn sweep_position(&self) -> PortResult<Option<JobPosition>> {
        let item = self.get("sweep_position", Key::sweep_position()).await?.filter(|item| item.contains_key(JOB_ID));
        item.map(|item| position_of(&item)).transpose().map_err(failed("sweep_position"))
    }

    /// UpdateItem of `SWEEP` / `POSITION`, without a condition: the next sweep continues from the last write.
    async fn set_sweep_position(&self, position: Option<JobPosition>) -> PortResult<()> {
        let (update, values) = match position {
            Some(position) => (
                "SET #jobId = :job, #age = :age",
                vec![(":job", text(position.job_id.to_string())), (":age", time(position.created_at))],
            ),
            None => ("REMOVE #jobId, #age", Vec::new()),
        };
        let update = Update {
            operation: "set_sweep_position",
            key: Key::sweep_position(),
            update: update.into(),
            condition: String::new(),
            values,
        };
        self.update(update).await.map(|_| ())
    }
}

fn position_of(item: &Item) -> Result<JobPosition, ItemError> {
    let job_id = JobId::parse(read_text(item, JOB_ID)?).ok_or(ItemError::Attribute(JOB_ID))?;
    Ok(JobPosition { created_at: Timestamp(read_number(item, AGE)?), job_id })
}
