//! HTTPS calls to servers on the internet: signed calls of handlers of job types and of webhooks, and downloads of
//! public files.
//!
//! An operator or a tenant names the server, and its answers are untrusted. A call therefore reaches global unicast
//! addresses only, and is bounded in time, in the bytes it reads and in memory. A signed call follows no redirect. A
//! download follows a few, and checks each as it checks the first URL.
//!
//! | module | contents |
//! | --- | --- |
//! | [`url`], [`policy`] | URLs of endpoints; the hosts and ports that they may name |
//! | [`address`], `registry` | addresses that are not global unicast |
//! | [`client`], [`call`] | the client, a call, its outcome |
//! | [`fetch`], [`public_url`] | downloads of public files; their URLs |
//! | [`probe`] | calls of a check of an endpoint |
//! | [`failure`], `retry_after` | failures of calls; the wait that an answer asks for |
//! | [`limits`] | limits of time, bytes and headers |
//! | [`network`], `dial` | name resolution and TCP; the checks of addresses, TLS |
//! | `connection`, `budget`, `body`, `pool` | one HTTP/1.1 connection; bytes read; bodies; idle connections |
//! | [`signature`], [`secret`] | Standard Webhooks; signing secrets and their derivation |
//! | [`local`] | what only a local stack may do |

pub mod address;
mod body;
mod budget;
pub mod call;
pub mod client;
mod connection;
mod dial;
pub mod failure;
pub mod fetch;
pub mod limits;
pub mod local;
pub mod network;
pub mod policy;
mod pool;
pub mod probe;
pub mod public_url;
mod registry;
mod retry_after;
pub mod secret;
pub mod signature;
pub mod url;
