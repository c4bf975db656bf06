//! The protocol, checked in every interleaving of small configurations.
//!
//! Tests of code try the interleavings that somebody thought of; the faults of batch systems are in the others.
//! The decisions are the domain's own functions, so a change of theirs is checked here too. What the model found
//! stands in `docs/decisions/0002-protocol-model.md`. `-- --nocapture` shows state counts and counterexamples.
//!
//! | module | holds |
//! | --- | --- |
//! | `protocol`, `bounds`, `flaw` | a configuration, its faults, its flaw |
//! | `world`, `step`, `record` | one state: stored, in flight, at work, remembered |
//! | `action`, `runs` | what can happen next; how a function starts, goes on, dies |
//! | `splitter`, `refile`, `worker`, `commit`, `completion`, `sweeper` | the step machines, and what they write |
//! | `client`, `retry` | what clients and operators ask for |
//! | `report`, `properties`, `sights` | the truth that counts are held against; the invariants; what must be seen |
//! | `holds`, `retries`, `ends`, `walks` | the tests: sound in every state, finite, and sound in long random walks |
//! | `flaws`, `layers` | caught when broken, and only slower without what is redundant |
//! | `checked`, `caught`, `story` | a check and its figures; a counterexample in sentences, kept in `counterexamples/` |

mod action;
mod bounds;
mod caught;
mod checked;
mod client;
mod commit;
mod completion;
mod ends;
mod flaw;
mod flaws;
mod holds;
mod layers;
mod properties;
mod protocol;
mod record;
mod replan;
mod report;
mod retries;
mod retry;
mod runs;
mod sights;
mod splitter;
mod step;
mod story;
mod sweeper;
mod walks;
mod worker;
mod world;
