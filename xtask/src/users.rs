//! Users of the local user pool: two tenants, of whom one must not see what the other makes, and an operator, who sees the
//! dead letters of both.
//!
//! They are made by `up`, with passwords that only `.longshore/local.json` knows, and sign in afresh whenever a command
//! needs a token: a token holds for an hour.

use crate::project::Project;
use crate::stack::{Credentials, SignedIn, Stack};
use crate::state::{self, State};
use crate::tools::{self, Tools};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

/// Who there is. The first one is whom commands sign in as.
const NAMES: [&str; 3] = ["alice", "bob", OPERATOR];

/// Who is in the group of operators.
pub(crate) const OPERATOR: &str = "operator";

/// A user of the local stack.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct User {
    /// Name to sign in with.
    pub(crate) name: String,
    /// Password to sign in with.
    pub(crate) password: String,
    /// Whose the user's jobs are.
    pub(crate) tenant: String,
    /// What the API wants to be shown: `Authorization: Bearer …`.
    pub(crate) token: String,
}

/// Neither password nor token: this may end up in a log.
impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("User").field("name", &self.name).field("tenant", &self.tenant).finish_non_exhaustive()
    }
}

/// What `token` can be told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Whose token
    #[arg(value_name = "NAME", default_value = NAMES[0])]
    name: String,
}

/// The command `token`: prints a fresh one and nothing else.
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

/// The running local stack, with fresh tokens of its users.
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

/// Signs every user in and notes their tokens. A stack whose users are somebody else's, or that is open, has none.
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
            // Attributes of the pool, such as custom:tenant, are in ID tokens only. stack.py sets that one to the name.
            let (tenant, token) = if by_sub { (sub, access_token) } else { (name.clone(), id_token) };
            User { name, password, tenant, token }
        })
        .collect();
    Ok(())
}
