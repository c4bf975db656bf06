//! Pre-deployment checks: template, parameters, binaries, quotas.
//!
//! | module | content |
//! | --- | --- |
//! | [`yaml`] | CloudFormation's YAML, including short tags, as JSON |
//! | [`template`] | sections, resources and parameters |
//! | `evaluation` | constraints on parameter values; values of expressions, conditions and assertions |
//! | [`roles`] | permissions of each function's role |
//! | [`settings`] | stack name and parameters of a deployment, and their sources |
//! | [`samconfig`] | the settings of samconfig.toml |
//! | [`overrides`] | the syntax of `--parameter-overrides` |
//! | [`parameters`] | parameters that CloudFormation refuses |
//! | [`rules`] | the template's rules |
//! | [`code`] | the code of a function: a folder or a package with its binary |
//! | [`binary`] | machine, C library, size, symbols and build settings of a function's binary |
//! | [`check`] | all checks that need no AWS account; the result: errors, warnings, and skipped checks |
//! | [`updates`] | parameter changes that lose data |
//! | [`indexes`] | changes of a table's indexes that DynamoDB refuses |
//! | [`quotas`] | concurrent executions: the stack's maximum, and the account's quota |
//! | [`finding`] | a problem, its location, and its fix |

pub mod binary;
pub mod check;
pub mod code;
mod evaluation;
pub mod finding;
pub mod indexes;
pub mod overrides;
pub mod parameters;
pub mod quotas;
pub mod roles;
pub mod rules;
pub mod samconfig;
pub mod settings;
pub mod template;
pub mod updates;
pub mod yaml;
