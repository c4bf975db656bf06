//! Users of a user pool.

use anyhow::{Context, Result};
use aws_config::SdkConfig;
use aws_sdk_cognitoidentityprovider::Client;
use aws_sdk_cognitoidentityprovider::types::{AttributeType, AuthFlowType, MessageActionType};
use uuid::Uuid;

use super::failed;

/// A user pool, and the app client that users sign in with.
#[derive(Clone, Copy, Debug)]
pub struct Pool<'a> {
    /// Id of the pool.
    pub id: &'a str,
    /// Id of the app client.
    pub client: &'a str,
}

/// A user's credentials.
#[derive(Clone)]
pub struct Credentials {
    /// User name in the pool.
    pub name: String,
    /// Password. If it is empty, a new one is set.
    pub password: String,
    /// Groups of the pool that the user is added to.
    pub groups: Vec<String>,
}

/// A signed-in user.
pub struct SignedIn {
    /// User name in the pool.
    pub name: String,
    /// The password that was used.
    pub password: String,
    /// Id of the user, assigned by the pool.
    pub sub: String,
    /// Access token for the API, valid for an hour.
    pub access_token: String,
    /// ID token for the API, valid for an hour; it also contains the user's attributes.
    pub id_token: String,
}

impl SignedIn {
    /// Returns the token that has the tenant claim. Only ID tokens have custom attributes, such as `custom:tenant`.
    pub fn into_token(self, tenant_claim: Option<&str>) -> String {
        if tenant_claim.is_none_or(|claim| claim == "sub") { self.access_token } else { self.id_token }
    }
}

/// Signs in a user. Creates it if it does not exist.
///
/// # Errors
/// If a call fails.
pub async fn sign_in(config: &SdkConfig, pool: Pool<'_>, user: Credentials) -> Result<SignedIn> {
    let client = Client::new(config);
    let Credentials { name, mut password, groups } = user;
    let attributes = match find(&client, pool.id, &name).await? {
        Some(attributes) => attributes,
        None => {
            password.clear();
            create(&client, pool.id, &name).await?
        }
    };
    if password.is_empty() {
        password = set_password(&client, pool.id, &name).await?;
    }
    for group in groups {
        let add = client.admin_add_user_to_group().user_pool_id(pool.id).username(&name).group_name(group);
        add.send().await.map_err(failed)?;
    }
    let start = client.admin_initiate_auth().user_pool_id(pool.id).client_id(pool.client);
    let start = start.auth_flow(AuthFlowType::AdminUserPasswordAuth);
    let start = start.auth_parameters("USERNAME", &name).auth_parameters("PASSWORD", &password);
    let tokens = start.send().await.map_err(failed)?.authentication_result;
    let tokens = tokens.context("the pool returned no tokens")?;
    let sub = attributes.iter().find(|attribute| attribute.name() == "sub").and_then(AttributeType::value);
    Ok(SignedIn {
        sub: sub.context("the user has no attribute sub")?.to_owned(),
        access_token: tokens.access_token.context("the pool returned no access token")?,
        id_token: tokens.id_token.context("the pool returned no ID token")?,
        name,
        password,
    })
}

/// Deletes a user. Does nothing if it does not exist.
///
/// # Errors
/// If the call fails.
pub async fn delete_user(config: &SdkConfig, pool_id: &str, name: &str) -> Result<()> {
    match Client::new(config).admin_delete_user().user_pool_id(pool_id).username(name).send().await {
        Err(error) if !error.as_service_error().is_some_and(|error| error.is_user_not_found_exception()) => {
            Err(failed(error))
        }
        _ => Ok(()),
    }
}

/// Returns the attributes of a user, or `None` if there is no such user.
async fn find(client: &Client, pool_id: &str, name: &str) -> Result<Option<Vec<AttributeType>>> {
    match client.admin_get_user().user_pool_id(pool_id).username(name).send().await {
        Ok(user) => Ok(Some(user.user_attributes.unwrap_or_default())),
        Err(error) if error.as_service_error().is_some_and(|error| error.is_user_not_found_exception()) => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// Creates a user without a password, and without an invitation e-mail.
async fn create(client: &Client, pool_id: &str, name: &str) -> Result<Vec<AttributeType>> {
    // Only used by deployments with TenantClaim=custom:tenant.
    let tenant = AttributeType::builder().name("custom:tenant").value(name).build()?;
    let create = client.admin_create_user().user_pool_id(pool_id).username(name).user_attributes(tenant);
    let output = create.message_action(MessageActionType::Suppress).send().await.map_err(failed)?;
    Ok(output.user.context("the pool returned no user")?.attributes.unwrap_or_default())
}

async fn set_password(client: &Client, pool_id: &str, name: &str) -> Result<String> {
    // Upper-case and lower-case letters and a digit, as the pool's policy requires.
    let password = format!("Aa1-{}", Uuid::new_v4().simple());
    let set = client.admin_set_user_password().user_pool_id(pool_id).username(name).password(&password);
    set.permanent(true).send().await.map_err(failed)?;
    Ok(password)
}
