//! An example of a job type with results: looks up the airline of each flight number.
//!
//! The output of each item is a row of the results: a file of JSON Lines or CSV, and pages of JSON. A lookup has
//! no effect, so it may be repeated. Nothing else is needed: each item that succeeds has its output in the results
//! exactly once.

use longshore::handler::{ItemKey, JobContext, JobType, Outcome};

/// Options of the job: none.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {}

/// An item: a row of a file, or an object of the request.
#[derive(serde::Deserialize)]
pub struct Flight {
    flight: String,
}

/// The output of an item.
#[derive(serde::Serialize)]
pub struct Enriched {
    flight: String,
    airline: String,
    country: String,
}

/// The job type, with its directory of airlines.
pub struct Enrich<D> {
    /// Directory of airlines.
    pub directory: D,
}

impl<D: Directory> JobType for Enrich<D> {
    const NAME: &'static str = "enrich";
    type Options = Options;
    type Item = Flight;
    type Output = Enriched;

    fn result_columns(&self, _: &Options) -> Vec<String> {
        ["flight", "airline", "country"].map(String::from).to_vec()
    }

    async fn process(&self, _: &JobContext, _: &Options, _: ItemKey, item: Flight) -> Outcome<Enriched> {
        let Flight { flight } = item;
        let Some(code) = flight.get(..2) else {
            return Outcome::reject("bad_flight", Some("flight"), format!("{flight:?} is not a flight number"));
        };
        match self.directory.find(code).await {
            Ok(Some((airline, country))) => Outcome::Ok(Enriched { flight, airline, country }),
            Ok(None) => Outcome::reject("unknown_airline", Some("flight"), format!("no airline has the code {code}")),
            Err(reason) => Outcome::Retry { after: None, reason },
        }
    }
}

/// A directory of airlines.
pub trait Directory: Send + Sync + 'static {
    /// Returns name and country of the airline with this code. After an error, the item is retried.
    fn find(&self, code: &str) -> impl Future<Output = Result<Option<(String, String)>, String>> + Send;
}

/// A small directory in the code.
pub struct Airlines;

impl Directory for Airlines {
    async fn find(&self, code: &str) -> Result<Option<(String, String)>, String> {
        let airlines =
            [("AF", "Air France", "France"), ("LH", "Lufthansa", "Germany"), ("NZ", "Air New Zealand", "New Zealand")];
        let found = airlines.into_iter().find(|(known, ..)| *known == code);
        Ok(found.map(|(_, airline, country)| (airline.to_owned(), country.to_owned())))
    }
}
