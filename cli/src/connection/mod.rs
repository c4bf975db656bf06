//! The deployment that a command calls, and the user who calls it.
//!
//! | file | contains |
//! | --- | --- |
//! | `options` | the options of every command that calls the API, and the order in which a deployment is found |
//! | `profiles` | the file with the deployments that the user has signed in to |
//! | `session` | the tokens of a user, and their renewal |
//! | `discovery` | the sign-in of a deployment, and the endpoints of its issuer |
//! | `loopback` | the server that receives the redirect of the sign-in |
//! | `login` | `login` and `logout` |

mod discovery;
mod login;
mod loopback;
mod options;
mod profiles;
mod session;

pub use login::{LoginOptions, LogoutOptions, login, logout};
pub use loopback::COGNITO_PORTS;
pub use options::ConnectionOptions;
pub(crate) use options::{OPERATOR, has_token_variable};
