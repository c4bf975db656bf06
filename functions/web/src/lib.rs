//! The web page: its files, and the settings of this deployment.
//!
//! - **Trigger:** calls of the HTTP API for the page. They need no token: the page signs its user in, and then calls
//!   the API.
//! - **Reads and writes:** nothing. The files are in the binary, the settings in the environment. The function's role
//!   permits only logging.
//! - **Called twice:** returns the same response.
//! - **If it fails:** the function uses no service that can fail. Without a required setting, it does not start.
//! - **Never:** receives a token, a row, or other data of a user.

mod answer;
mod policy;
mod routes;
mod settings;

pub use routes::{ROUTES, router, serve};
pub use settings::{OperatorRule, Settings, SignIn, Token};
