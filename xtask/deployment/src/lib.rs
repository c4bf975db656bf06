//! Checks of a deployment before it is made: template, parameters, binaries, quotas.
//!
//! | module | knows |
//! | --- | --- |
//! | [`yaml`] | CloudFormation's YAML, short tags included, as JSON |
//! | [`template`] | resources, parameters and mappings, and their values for given parameters |
//! | [`roles`] | what each function may do, by role |
//! | [`samconfig`] | stack name and parameters of `sam deploy` |
//! | [`binary`] | machine, size, symbols and build settings of a function's binary |
//! | [`check`] | all of it, as findings |
//! | [`updates`] | changes of parameters that lose something |
//! | [`quotas`] | concurrent executions: what the stack may use, and what the account has |

pub mod binary;
pub mod check;
pub mod finding;
pub mod quotas;
pub mod roles;
pub mod samconfig;
pub mod template;
pub mod updates;
pub mod yaml;
