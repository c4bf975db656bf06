//! Signed HTTPS calls to endpoints on the internet: handlers of job types, and webhooks.
//!
//! An operator or a tenant names the endpoint, and the endpoint's answers are untrusted. A call therefore reaches global
//! unicast addresses only, follows no redirect, and is bounded in time, in the bytes it reads and in memory.
//!
//! | module | contents |
//! | --- | --- |
//! | [`url`], [`policy`] | URLs of endpoints; the hosts and ports that they may name |
//! | [`address`], `registry` | addresses that are not global unicast |
//! | [`client`], [`call`] | the client, a call, its outcome |
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
pub mod limits;
pub mod local;
pub mod network;
pub mod policy;
mod pool;
pub mod probe;
mod registry;
mod retry_after;
pub mod secret;
pub mod signature;
pub mod url;
