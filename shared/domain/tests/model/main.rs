//! The protocol, checked in every interleaving of small configurations.
//!
//! Tests of code try the interleavings that somebody thought of; the faults of batch systems are in the others.
//! The decisions are the domain's own functions, so a change of theirs is checked here too. What the model found
//! stands in `infra/decisions/0002-protocol-model.md`. `-- --nocapture` shows state counts and counterexamples.
//!
//! | module | holds |
//! | --- | --- |
//! | `protocol`, `bounds` | a configuration, its steps, its faults, its flaw |
//! | `world` | one state: stored, in flight, at work, remembered |
//! | `runs` | how a function starts, goes on, dies |
//! | `splitter`, `worker`, `completion`, `sweeper`, `client` | one step machine each |
//! | `report`, `properties` | the truth that counts are held against; the invariants |
//! | `holds`, `ends`, `flaws` | the tests: sound, finite, and caught when broken |
//! | `story` | a counterexample in sentences; one is kept in `counterexamples/` |

mod bounds;
mod client;
mod completion;
mod ends;
mod flaws;
mod holds;
mod properties;
mod protocol;
mod report;
mod runs;
mod splitter;
mod story;
mod sweeper;
mod worker;
mod world;
