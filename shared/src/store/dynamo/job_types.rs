//! Registered job types, all in one partition, and a set of their names, which bounds their number.
//!
//! An activation copies the candidate's attributes within one update, so no write depends on the content that another
//! call may be replacing.

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use longshore_domain::ports::{JobTypes, Page, PingRecord, PortResult, TypeDeletion, TypeWrite};
use longshore_domain::registration::{
    Activation, Candidate, MAX_JOB_TYPES, Refusal, Revision, StoredRegistration, TypeName, Version,
};

use super::item::{Item, number, read_text, text};
use super::job_type_item::{candidate_values, from_item, is_at, json, to_item};
use super::keys::{JOB_TYPES, Key, SK};
use super::retry::unanswered;
use super::transaction::Transacted;
use super::update::{Update, Updated};
use super::{DynamoStore, failed};

const PUT: &str = "put_candidate";
const DELETE: &str = "delete_job_type";

impl JobTypes for DynamoStore {
    /// Consistent GetItem of `JOBTYPES` / `name`.
    async fn job_type(&self, name: &TypeName) -> PortResult<Option<StoredRegistration>> {
        let item = self.get("job_type", Key::job_type(name)).await?;
        item.map(|item| from_item(&item)).transpose().map_err(failed("job_type"))
    }

    /// Consistent Query of `JOBTYPES`. Job types that another version of this program wrote and this one cannot read are
    /// left out.
    async fn job_types(&self, after: Option<&TypeName>, limit: usize) -> PortResult<Page<StoredRegistration>> {
        let query = self.client.query().table_name(&self.table).consistent_read(true);
        let query = query
            .key_condition_expression("PK = :types")
            .expression_attribute_values(":types", text(JOB_TYPES))
            .set_limit(i32::try_from(limit).ok())
            .set_exclusive_start_key(after.map(|name| Key::job_type(name).attributes()));
        let page = query.send().await.map_err(unanswered("job_types"))?;
        let next = page.last_evaluated_key.map(|key| read_text(&key, SK).map(str::to_owned));
        let items = page.items.unwrap_or_default().iter().filter_map(readable).collect();
        Ok(Page { items, next: next.transpose().map_err(failed("job_types"))? })
    }

    /// For a new job type, a transaction: PutItem of `JOBTYPES` / `name`, if absent, and UpdateItem of the set of names,
    /// if it has room. Otherwise UpdateItem of `JOBTYPES` / `name`, if its revision is the one that was read.
    async fn put_candidate(
        &self,
        name: &TypeName,
        candidate: Option<&Candidate>,
        seen: Option<&Revision>,
    ) -> PortResult<TypeWrite> {
        match (candidate, seen) {
            (Some(candidate), None) => self.put_new(name, candidate).await,
            (None, None) => Ok(TypeWrite::Changed),
            (candidate, Some(seen)) => self.replace(name, candidate, seen).await,
        }
    }

    /// A transaction: DeleteItem of `JOBTYPES` / `name`, if its revision is the one that was read, and UpdateItem of the
    /// set of names.
    async fn delete_job_type(&self, name: &TypeName, seen: Option<&Revision>) -> PortResult<TypeDeletion> {
        let delete = self.delete_of(Key::job_type(name), is_at(seen))?;
        let names = self.update_of(Update {
            operation: DELETE,
            key: Key::job_type_names(),
            update: "DELETE #names :one".into(),
            condition: "attribute_exists(#PK)".into(),
            values: vec![(":one", one(name))],
        })?;
        match self.transact(DELETE, vec![delete, names]).await? {
            Transacted::Applied => Ok(TypeDeletion::Deleted),
            // Absent: an earlier attempt of this call, or another call, has deleted it.
            Transacted::Refused(_) => match self.get(DELETE, Key::job_type(name)).await? {
                None => Ok(TypeDeletion::Deleted),
                Some(_) => Ok(TypeDeletion::Changed),
            },
        }
    }

    /// UpdateItem of `JOBTYPES` / `name`, if the candidate has this version.
    async fn activate(&self, name: &TypeName, version: &Version, activation: &Activation) -> PortResult<PingRecord> {
        let update = Update {
            operation: "activate",
            key: Key::job_type(name),
            update: "SET #active = #candidate, #activeVersion = #candidateVersion, #activation = :activation \
                     REMOVE #candidate, #candidateVersion, #candidateAt, #refusal"
                .into(),
            condition: "attribute_exists(#PK) AND #candidateVersion = :version".into(),
            values: vec![
                (":version", text(version.as_str())),
                (":activation", json(activation).map_err(failed("activate"))?),
            ],
        };
        match self.update(update).await? {
            Updated::Applied(_) => Ok(PingRecord::Recorded),
            Updated::Refused(item) => Ok(recorded_if(has(&item, "activeVersion", version))),
            Updated::Absent => Ok(PingRecord::Stale),
        }
    }

    /// UpdateItem of `JOBTYPES` / `name`, if the candidate has this version and is not refused.
    async fn refuse(&self, name: &TypeName, version: &Version, refusal: &Refusal) -> PortResult<PingRecord> {
        let update = Update {
            operation: "refuse",
            key: Key::job_type(name),
            update: "SET #refusal = :refusal".into(),
            condition: "attribute_exists(#PK) AND #candidateVersion = :version AND attribute_not_exists(#refusal)"
                .into(),
            values: vec![(":version", text(version.as_str())), (":refusal", json(refusal).map_err(failed("refuse"))?)],
        };
        match self.update(update).await? {
            Updated::Applied(_) => Ok(PingRecord::Recorded),
            Updated::Refused(item) => Ok(recorded_if(has(&item, "candidateVersion", version))),
            Updated::Absent => Ok(PingRecord::Stale),
        }
    }
}

impl DynamoStore {
    async fn put_new(&self, name: &TypeName, candidate: &Candidate) -> PortResult<TypeWrite> {
        let put = self.put_if_absent(to_item(name, candidate).map_err(failed(PUT))?)?;
        let transacted = self.transact(PUT, vec![put, self.count_name(name)?]).await?;
        if transacted.refused_at(0) {
            let own = self.get(PUT, Key::job_type(name)).await?;
            let is_own = own.is_some_and(|item| has(&item, "candidateVersion", &candidate.version));
            return Ok(stored_if(is_own));
        }
        Ok(if transacted.refused_at(1) { TypeWrite::TooMany } else { TypeWrite::Stored })
    }

    /// Update of `JOBTYPES#NAMES` / `NAMES`, if the set has room.
    fn count_name(&self, name: &TypeName) -> PortResult<TransactWriteItem> {
        self.update_of(Update {
            operation: PUT,
            key: Key::job_type_names(),
            update: "ADD #names :one".into(),
            condition: "attribute_not_exists(#names) OR size(#names) < :limit OR contains(#names, :name)".into(),
            values: vec![(":one", one(name)), (":name", text(name.as_str())), (":limit", number(MAX_JOB_TYPES))],
        })
    }

    async fn replace(&self, name: &TypeName, candidate: Option<&Candidate>, seen: &Revision) -> PortResult<TypeWrite> {
        let (condition, mut values) = is_at(Some(seen));
        let update = match candidate {
            Some(candidate) => {
                let of_candidate = candidate_values(candidate).map_err(failed(PUT))?;
                values.extend([":candidate", ":version", ":at"].into_iter().zip(of_candidate));
                "SET #candidate = :candidate, #candidateVersion = :version, #candidateAt = :at REMOVE #refusal"
            }
            None => "REMOVE #candidate, #candidateVersion, #candidateAt, #refusal",
        };
        let update = Update { operation: PUT, key: Key::job_type(name), update: update.into(), condition, values };
        match self.update(update).await? {
            Updated::Applied(_) => Ok(TypeWrite::Stored),
            // An earlier attempt of this call may have written the same.
            Updated::Refused(item) => Ok(stored_if(match candidate {
                Some(candidate) => has(&item, "candidateVersion", &candidate.version),
                None => is_without_candidate(&item, seen),
            })),
            Updated::Absent => Ok(TypeWrite::Changed),
        }
    }
}

fn one(name: &TypeName) -> AttributeValue {
    AttributeValue::Ss(vec![name.to_string()])
}

fn has(item: &Item, attribute: &'static str, version: &Version) -> bool {
    read_text(item, attribute).is_ok_and(|stored| stored == version.as_str())
}

fn is_without_candidate(item: &Item, seen: &Revision) -> bool {
    let is_same = |active: &Version| has(item, "activeVersion", active);
    !item.contains_key("candidateVersion") && seen.active.as_ref().is_some_and(is_same)
}

fn recorded_if(is_recorded: bool) -> PingRecord {
    if is_recorded { PingRecord::Recorded } else { PingRecord::Stale }
}

fn stored_if(is_own: bool) -> TypeWrite {
    if is_own { TypeWrite::Stored } else { TypeWrite::Changed }
}

fn readable(item: &Item) -> Option<StoredRegistration> {
    let stored = from_item(item);
    if let Err(error) = &stored {
        tracing::warn!(%error, "cannot read a job type");
    }
    stored.ok()
}
