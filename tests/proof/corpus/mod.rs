//! Files with every oddity of CSV and JSON Lines, through the deployed stack.
//!
//! Each file is uploaded and processed as by a browser. Then every row of the file, as an independent parser reads it,
//! has either succeeded, with its record in the dataset, or is in the report with its cells unchanged. The chunks
//! together are the file's bytes. Some jobs are stopped, so that the same is checked for unprocessed rows.
//!
//! `LONGSHORE_SEED` sets the seed of the generated files. `LONGSHORE_FILE` selects the files whose names contain it.
//!
//! | file | contents |
//! | --- | --- |
//! | `case` | a file of the corpus, and a job over it |
//! | `crafted_files`, `refused_files`, `sized_files` | crafted files |
//! | `generated` | files of a seeded generator |
//! | `reading`, `expected` | the independent parser, and the expected outcome of each row |
//! | `sets` | the test: jobs over crafted and generated files on one stack |
//! | `report`, `partition` | the checks of their results against the files |

mod case;
mod crafted_files;
mod expected;
mod generated;
mod partition;
mod reading;
mod refused_files;
mod report;
mod sets;
mod sized_files;
