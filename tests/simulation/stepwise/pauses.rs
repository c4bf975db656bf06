//! Pauses: the reads of functions, and the changes of operators.

use longshore_domain::pause::Pause;
use longshore_domain::ports::{PauseOutcome, PauseRecords, Pauses, PortResult};

use super::{Stepwise, cloned, stepwise};
use crate::faults::{Fault, after, again, before};
use crate::pauses::record_failed_read;

impl<T: Pauses> Pauses for Stepwise<T> {
    async fn pauses(&self) -> PortResult<Vec<Pause>> {
        let read = self.read_pauses().await;
        if read.is_err() {
            record_failed_read();
        }
        read
    }
}

impl<T: Pauses> Stepwise<T> {
    async fn read_pauses(&self) -> PortResult<Vec<Pause>> {
        let fault = before("pauses").await?;
        let mut pauses = self.0.pauses().await;
        if fault == Fault::SentTwice {
            again("pauses").await;
            pauses = self.0.pauses().await;
        }
        after("pauses", fault).await?;
        pauses
    }
}

impl<T: PauseRecords> PauseRecords for Stepwise<T> {
    stepwise! {
        async fn put_pause(&self, pause: &Pause) -> PortResult<PauseOutcome>;
        async fn end_pause(&self, pause: &Pause) -> PortResult<()>;
    }
}
