//! Users of the local user pool: two tenants, isolated from each other, and an operator, who sees the dead letters of
//! both.
//!
//! `up` creates the users, with passwords that are only stored in `.longshore/local.json`. They sign in again
//! whenever a command needs a token, because a token is valid for an hour.

use crate::project::Project;
use crate::stack::{Credentials, SignedIn, Stack};
use crate::state::{self, State};
use crate::tools::{self, Tools};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

/// The users. Commands sign in as the first one.
const NAMES: [&str; 3] = ["alice", "bob", OPERATOR];

/// The user in the operators' group.
pub(crate) const OPERATOR: &str = "operator";

/// A user of the local stack.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct User {
    /// Name to sign in with.
    pub(crate) name: String,
    /// Password to sign in with.
    pub(crate) password: String,
    /// Tenant that owns the user's jobs.
    pub(crate) tenant: String,
    /// Token for the header `Authorization: Bearer …`.
    pub(crate) token: String,
}

/// Omits password and token, because the output may be logged.
impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("User").field("name", &self.name).field("tenant", &self.tenant).finish_non_exhaustive()
    }
}

/// Options of `token`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// User whose token is printed
    #[arg(value_name = "NAME", default_value = NAMES[0])]
    name: String,
}

/// Runs the command `token`: prints a fresh token and nothing else.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let state = signed_in(project, &tools::ensure(project)?)?;
    if state.users.is_empty() {
        bail!("this stack has no users of its own: it was deployed with Access={}", state.output("Access")?);
    }
    let user = state.users.iter().find(|user| user.name == options.name);
    let known = NAMES.join(", ");
    println!("{}", user.with_context(|| format!("there is no user {}; there are {known}", options.name))?.token);
    Ok(())
}

/// Returns the running local stack, with fresh tokens of its users.
pub(crate) fn signed_in(project: &Project, tools: &Tools) -> Result<State> {
    let _lock = project.lock_stack()?;
    let mut state = state::read(project)?;
    if !state.is_up() {
        bail!("the local stack is not running: start it with `cargo xtask up`");
    }
    let endpoint = state.emulator_url.clone();
    sign_in(&Stack { project, tools, endpoint: &endpoint }, &mut state)?;
    state::write(project, &state)?;
    Ok(state)
}

/// Lets the sign-in page return to the page, whose port the template cannot know.
pub(crate) fn let_return(stack: &Stack<'_>, state: &State) -> Result<()> {
    if let (Some(pool), Some(client)) = (state.outputs.get("UserPoolId"), state.outputs.get("UserPoolClientId")) {
        stack.return_to(pool, client, &format!("{}/", state.web_url))?;
    }
    Ok(())
}

/// Signs every user in and stores their tokens. A stack that is open or has another issuer's users has none.
pub(crate) fn sign_in(stack: &Stack<'_>, state: &mut State) -> Result<()> {
    let (Some(pool), Some(client)) = (state.outputs.get("UserPoolId"), state.outputs.get("UserPoolClientId")) else {
        state.users.clear();
        return Ok(());
    };
    let password = |name: &str| state.users.iter().find(|user| user.name == name).map(|user| user.password.clone());
    // A stack of an older template has no such group.
    let group = |name: &str| state.outputs.get("OperatorGroup").filter(|_| name == OPERATOR).cloned();
    let credentials = |name: &str| Credentials {
        name: name.to_owned(),
        password: password(name).unwrap_or_default(),
        groups: group(name).into_iter().collect(),
    };
    let signed_in = stack.sign_in(pool, client, &NAMES.map(credentials)).context("the local users cannot sign in")?;
    let by_sub = state.outputs.get("TenantClaim").is_none_or(|claim| claim == "sub");
    state.users = signed_in
        .into_iter()
        .map(|SignedIn { name, password, sub, access_token, id_token }| {
            // Custom attributes, such as custom:tenant, are in ID tokens only. stack.py sets that one to the name.
            let (tenant, token) = if by_sub { (sub, access_token) } else { (name.clone(), id_token) };
            User { name, password, tenant, token }
        })
        .collect();
    Ok(())
}
