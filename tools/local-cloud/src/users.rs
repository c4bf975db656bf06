//! Users of the local user pool: two tenants that are isolated from each other, and an operator, who sees the
//! dead letters of both.
//!
//! `up` creates the users. Their passwords are stored only in `.longshore/local.json`. They sign in again whenever a
//! command needs a token, because a token is valid for an hour.

use crate::cloud::{Credentials, SignedIn, UserPool};
use crate::project::Project;
use crate::stack::Stack;
use crate::state::{self, State, User};
use crate::tools::Tools;
use anyhow::{Context, Result, bail};

/// The users. Commands sign in as the first one.
pub const NAMES: [&str; 3] = ["alice", "bob", OPERATOR];

/// The user in the operators' group.
pub const OPERATOR: &str = "operator";

/// Returns the state of the running local stack, with new tokens of its users.
pub fn signed_in(project: &Project, tools: &Tools) -> Result<State> {
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

/// Sets the URL of the page as the one that the sign-in page redirects to. Its port is not known to the template.
pub fn let_return(stack: &Stack<'_>, state: &State) -> Result<()> {
    match UserPool::of_stack(&stack.cloud()?, &state.outputs) {
        Some(pool) => pool.return_to(&format!("{}/", state.web_url)),
        None => Ok(()),
    }
}

/// Signs in every user and stores the tokens. A stack without a user pool has no users.
pub fn sign_in(stack: &Stack<'_>, state: &mut State) -> Result<()> {
    let Some(pool) = UserPool::of_stack(&stack.cloud()?, &state.outputs) else {
        state.users.clear();
        return Ok(());
    };
    let is_sub = state.outputs.get("TenantClaim").is_none_or(|claim| claim == "sub");
    let users: Result<Vec<_>> = NAMES
        .into_iter()
        .map(|name| {
            let signed_in = pool.sign_in(credentials(state, name)).context("the local users cannot sign in")?;
            let SignedIn { name, password, sub, access_token, id_token } = signed_in;
            // Only ID tokens have custom attributes, such as custom:tenant, which is the name of the user.
            let (tenant, token) = if is_sub { (sub, access_token) } else { (name.clone(), id_token) };
            Ok(User { name, password, tenant, token })
        })
        .collect();
    state.users = users?;
    Ok(())
}

/// Returns the stored password of a user, and the groups that the user must be in.
fn credentials(state: &State, name: &str) -> Credentials {
    let user = state.users.iter().find(|user| user.name == name);
    // A stack of an older template has no such group.
    let group = state.outputs.get("OperatorGroup").filter(|_| name == OPERATOR).cloned();
    Credentials {
        name: name.to_owned(),
        password: user.map(|user| user.password.clone()).unwrap_or_default(),
        groups: group.into_iter().collect(),
    }
}
