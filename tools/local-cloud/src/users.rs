//! Users of the local user pool: two tenants, isolated from each other, and an operator, who sees the dead letters of
//! both.
//!
//! `up` creates the users, with passwords that are only stored in `.longshore/local.json`. They sign in again
//! whenever a command needs a token, because a token is valid for an hour.

use crate::cloud::{Credentials, SignedIn, UserPool};
use crate::project::Project;
use crate::stack::Stack;
use crate::state::{self, State};
use crate::tools::Tools;
use crate::user::User;
use anyhow::{Context, Result, bail};

/// The users. Commands sign in as the first one.
pub const NAMES: [&str; 3] = ["alice", "bob", OPERATOR];

/// The user in the operators' group.
pub const OPERATOR: &str = "operator";

/// Returns the running local stack, with fresh tokens of its users.
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

/// Lets the sign-in page return to the page, whose port the template cannot know.
pub fn let_return(stack: &Stack<'_>, state: &State) -> Result<()> {
    match UserPool::of_stack(&stack.cloud()?, &state.outputs) {
        Some(pool) => pool.return_to(&format!("{}/", state.web_url)),
        None => Ok(()),
    }
}

/// Signs every user in and stores their tokens. A stack that is open or has another issuer's users has none.
pub fn sign_in(stack: &Stack<'_>, state: &mut State) -> Result<()> {
    let Some(pool) = UserPool::of_stack(&stack.cloud()?, &state.outputs) else {
        state.users.clear();
        return Ok(());
    };
    let by_sub = state.outputs.get("TenantClaim").is_none_or(|claim| claim == "sub");
    let users: Result<Vec<_>> = NAMES
        .into_iter()
        .map(|name| {
            let signed_in = pool.sign_in(credentials(state, name)).context("the local users cannot sign in")?;
            let SignedIn { name, password, sub, access_token, id_token } = signed_in;
            // Custom attributes, such as custom:tenant, are in ID tokens only. The pool sets that one to the name.
            let (tenant, token) = if by_sub { (sub, access_token) } else { (name.clone(), id_token) };
            Ok(User { name, password, tenant, token })
        })
        .collect();
    state.users = users?;
    Ok(())
}

/// The stored password of a user, and the groups that the user must be in.
fn credentials(state: &State, name: &str) -> Credentials {
    let known = state.users.iter().find(|user| user.name == name);
    // A stack of an older template has no such group.
    let group = state.outputs.get("OperatorGroup").filter(|_| name == OPERATOR).cloned();
    Credentials {
        name: name.to_owned(),
        password: known.map(|user| user.password.clone()).unwrap_or_default(),
        groups: group.into_iter().collect(),
    }
}
