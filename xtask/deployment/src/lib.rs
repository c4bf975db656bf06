//! Checks of a deployment before it is made: template, parameters, binaries, quotas.
//!
//! | module | knows |
//! | --- | --- |
//! | [`yaml`] | CloudFormation's YAML, short tags included, as JSON |
//! | [`template`] | resources, parameters and mappings, and their values for given parameters |
//! | `conditions` | functions of conditions and rules |
//! | [`roles`] | what each function may do, by role |
//! | [`settings`] | stack name and parameters of a deployment, and where each is set |
//! | [`samconfig`] | the settings of samconfig.toml |
//! | [`overrides`] | the text of `--parameter-overrides` |
//! | `constraint` | type, range, length, pattern and list of a parameter |
//! | [`parameters`] | parameters that CloudFormation refuses |
//! | [`rules`] | the template's rules |
//! | [`binary`] | machine, size, symbols and build settings of a function's binary |
//! | [`check`] | all that can be checked without AWS, as findings |
//! | [`updates`] | changes of parameters that lose something |
//! | [`quotas`] | concurrent executions: what the stack may use, and what the account has |
//! | [`verdict`] | the result: errors, warnings, and parts that were not checked |

pub mod binary;
pub mod check;
mod conditions;
mod constraint;
pub mod finding;
pub mod overrides;
pub mod parameters;
pub mod quotas;
pub mod roles;
pub mod rules;
pub mod samconfig;
pub mod settings;
pub mod template;
pub mod updates;
pub mod verdict;
pub mod yaml;
