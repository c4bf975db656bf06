//! The protocol model: a check of every interleaving of small configurations.
//!
//! Tests of code cover the interleavings that their authors thought of; the errors of batch systems are in the others.
//! The model decides by the domain's own functions, so a change of those is checked here too.
//! `docs/decisions/0002-protocol-model.md` lists the model's findings. `-- --nocapture` shows state counts and
//! counterexamples.
//!
//! | module | contents |
//! | --- | --- |
//! | `protocol`, `item` | a configuration and its flaw; its items |
//! | `world`, `step`, `record` | one state: stored, in flight, running; the bounds and the history of a path |
//! | `model` | the possible next actions and their effects; start, progress and crash of a function |
//! | `splitter`, `worker`, `commit`, `completion`, `sweeper` | the step machines and their writes |
//! | `client`, `pauses` | requests of clients and operators; pauses, and the functions that see them |
//! | `report`, `properties` | expected counts; the invariants; the states that must be reached |
//! | `holds`, `ends`, `walks` | the tests: every state and every long random walk is sound, every run is finite |
//! | `flaws`, `layers` | flaws that must be found; redundant mechanisms whose removal only costs speed |
//! | `small` | checks of small models, and the shortest paths to their violations |
//! | `undo_calls`, `undo_steps` | a small model: calls about an import that is undone |
//! | `previous`, `previous_steps` | a small model: the previous versions of a record |
//! | `event_moves`, `event_steps` | a small model: the events of a job, and their moves to the list |
//! | `checked` | a check and its measurements; a readable story, kept in `counterexamples.md` |

mod checked;
mod client;
mod commit;
mod completion;
mod ends;
mod event_moves;
mod event_steps;
mod flaws;
mod holds;
mod item;
mod layers;
mod model;
mod pauses;
mod previous;
mod previous_steps;
mod properties;
mod protocol;
mod record;
mod report;
mod small;
mod splitter;
mod step;
mod sweeper;
mod undo_calls;
mod undo_steps;
mod walks;
mod worker;
mod world;
