//! Commands for operators.
//!
//! | module | content |
//! | --- | --- |
//! | [`operations`], [`dead_letters`] | jobs, failures, queues, handlers and dead letters of all tenants, by the API |
//! | [`deploy_check`] | problems of a deployment, before it |
//! | [`doctor`] | problems of a deployed stack |
//! | [`smoke`], [`load`] | one import with every row checked; many jobs |
//! | `cleanup_process` | a process that removes test data, whatever ends the command |

mod cleanup_process;
pub mod dead_letters;
pub mod deploy_check;
pub mod doctor;
pub mod load;
pub mod operations;
pub mod smoke;
