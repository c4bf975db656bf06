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
//! | `csv_files`, `json_files`, `refused_files`, `sized_files` | crafted files |
//! | `generated` | files of a seeded generator |
//! | `reading`, `expected` | the independent parser, and the expected outcome of each row |
//! | `run`, `report`, `partition` | the jobs, and the checks of their results against the files |
//! | `sets` | the test: crafted and generated files on one stack |

mod case;
mod csv_files;
mod expected;
mod generated;
mod json_files;
mod partition;
mod reading;
mod refused_files;
mod report;
mod run;
mod sets;
mod sized_files;
