//! The web page: its files, and the settings of this deployment.
//!
//! - **Trigger:** calls of the HTTP API for the page. They need no token: the page signs its user in, and then calls
//!   the API.
//! - **Reads and writes:** nothing. The files are in the binary, the settings in the environment. The function's role
//!   permits only logging.
//! - **Called twice:** answers twice.
//! - **If it fails:** it uses no service that can fail. A deployment without a required setting does not start.
//! - **Never:** sees a token, a row, or any other user's data.

mod answer;
mod policy;
mod routes;
mod settings;

pub use routes::{ROUTES, router, serve};
pub use settings::{Settings, SignIn, Token};
