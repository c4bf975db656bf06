//! Cognito: users of a pool, and their sign-in.

use super::Cloud;
use anyhow::{Context, Result};
use aws_sdk_cognitoidentityprovider::Client;
use aws_sdk_cognitoidentityprovider::types::{
    AttributeType, AuthFlowType, AuthenticationResultType, MessageActionType,
};
use longshore_cli::aws::pool::{self, Credentials, Pool, SignedIn};
use longshore_cli::connection::COGNITO_PORTS;
use std::collections::BTreeMap;

/// A user pool and one of its app clients.
#[derive(Clone, Debug)]
pub struct UserPool {
    cloud: Cloud,
    pool: String,
    client: String,
}

impl UserPool {
    /// Returns the user pool of a stack with these outputs, or `None` if it has none.
    pub fn of_stack(cloud: &Cloud, outputs: &BTreeMap<String, String>) -> Option<Self> {
        let output = |name: &str| outputs.get(name).cloned();
        Some(Self { cloud: cloud.clone(), pool: output("UserPoolId")?, client: output("UserPoolClientId")? })
    }

    /// Returns the same pool with another app client.
    #[must_use]
    pub fn with_client(&self, client: &str) -> Self {
        Self { client: client.to_owned(), ..self.clone() }
    }

    /// Returns the id of the pool.
    pub fn id(&self) -> &str {
        &self.pool
    }

    /// Returns the id of the app client.
    pub fn client_id(&self) -> &str {
        &self.client
    }

    /// Signs in a user. Creates it if it does not exist.
    ///
    /// # Errors
    /// If the emulator refuses a call. The error contains neither the password nor a token.
    pub fn sign_in(&self, credentials: Credentials) -> Result<SignedIn> {
        let pool = Pool { id: &self.pool, client: &self.client };
        self.cloud.block_on(pool::sign_in(&self.cloud.config, pool, credentials))
    }

    /// Sets the URL of the page to which the sign-in page can redirect. Those of the command line stay.
    ///
    /// # Errors
    /// If the emulator refuses the call.
    pub fn return_to(&self, url: &str) -> Result<()> {
        // An update replaces all settings, so the current ones are sent again.
        let call = self.cognito().describe_user_pool_client().user_pool_id(&self.pool).client_id(&self.client);
        let response = self.cloud.block_on(call.send()).context("cannot describe the app client")?;
        let client = response.user_pool_client.context("the app client has no settings")?;
        let is_loopback = |url: &String| COGNITO_PORTS.iter().any(|port| *url == format!("http://localhost:{port}/"));
        let callbacks = client.callback_urls.unwrap_or_default().into_iter().filter(is_loopback);
        let callbacks = std::iter::once(url.to_owned()).chain(callbacks).collect();
        let call = self
            .cognito()
            .update_user_pool_client()
            .user_pool_id(&self.pool)
            .client_id(&self.client)
            .set_client_name(client.client_name)
            .set_refresh_token_validity(Some(client.refresh_token_validity))
            .set_access_token_validity(client.access_token_validity)
            .set_id_token_validity(client.id_token_validity)
            .set_token_validity_units(client.token_validity_units)
            .set_read_attributes(client.read_attributes)
            .set_write_attributes(client.write_attributes)
            .set_explicit_auth_flows(client.explicit_auth_flows)
            .set_supported_identity_providers(client.supported_identity_providers)
            .set_callback_urls(Some(callbacks))
            .logout_urls(url)
            .set_default_redirect_uri(client.default_redirect_uri)
            .set_allowed_o_auth_flows(client.allowed_o_auth_flows)
            .set_allowed_o_auth_scopes(client.allowed_o_auth_scopes)
            .set_allowed_o_auth_flows_user_pool_client(client.allowed_o_auth_flows_user_pool_client)
            .set_prevent_user_existence_errors(client.prevent_user_existence_errors)
            .set_enable_token_revocation(client.enable_token_revocation)
            .set_auth_session_validity(client.auth_session_validity)
            .set_analytics_configuration(client.analytics_configuration)
            .set_refresh_token_rotation(client.refresh_token_rotation)
            .set_enable_propagate_additional_user_context_data(client.enable_propagate_additional_user_context_data);
        self.cloud.block_on(call.send()).context("cannot update the app client")?;
        Ok(())
    }

    /// Creates a user, with the attribute `custom:tenant` unless `tenant` is `None`. Returns the user's attributes.
    ///
    /// # Errors
    /// If the user already exists, or the emulator refuses the call.
    pub fn create(&self, name: &str, tenant: Option<&str>) -> Result<Vec<AttributeType>> {
        let tenant = tenant.map(|tenant| AttributeType::builder().name("custom:tenant").value(tenant).build());
        let call = self.cognito().admin_create_user().user_pool_id(&self.pool).username(name);
        let call = call.message_action(MessageActionType::Suppress);
        let call = call.set_user_attributes(tenant.transpose()?.map(|tenant| vec![tenant]));
        let response = self.cloud.block_on(call.send()).with_context(|| format!("cannot create the user {name}"))?;
        Ok(response.user.and_then(|user| user.attributes).unwrap_or_default())
    }

    /// Sets the password of a user.
    ///
    /// # Errors
    /// If the emulator refuses the call.
    pub fn set_password(&self, name: &str, password: &str) -> Result<()> {
        let call = self.cognito().admin_set_user_password().user_pool_id(&self.pool).username(name);
        self.cloud
            .block_on(call.password(password).permanent(true).send())
            .with_context(|| format!("cannot set the password of {name}"))?;
        Ok(())
    }

    /// Adds a user to a group of the pool.
    ///
    /// # Errors
    /// If the emulator refuses the call.
    pub fn add_to_group(&self, name: &str, group: &str) -> Result<()> {
        let call = self.cognito().admin_add_user_to_group().user_pool_id(&self.pool).username(name);
        self.cloud.block_on(call.group_name(group).send()).with_context(|| format!("cannot add {name} to {group}"))?;
        Ok(())
    }

    /// Signs in an existing user.
    ///
    /// # Errors
    /// If the emulator refuses the call.
    pub fn tokens(&self, name: &str, password: &str) -> Result<AuthenticationResultType> {
        let call = self
            .cognito()
            .admin_initiate_auth()
            .user_pool_id(&self.pool)
            .client_id(&self.client)
            .auth_flow(AuthFlowType::AdminUserPasswordAuth)
            .auth_parameters("USERNAME", name)
            .auth_parameters("PASSWORD", password);
        let response = self.cloud.block_on(call.send()).with_context(|| format!("{name} cannot sign in"))?;
        response.authentication_result.with_context(|| format!("the sign-in of {name} returned no tokens"))
    }

    fn cognito(&self) -> Client {
        Client::new(&self.cloud.config)
    }
}

/// Returns the id of a user, assigned by the pool, from the user's attributes.
///
/// # Errors
/// If the attributes do not contain it.
pub fn sub(attributes: &[AttributeType]) -> Result<String> {
    let sub = attributes.iter().find(|attribute| attribute.name() == "sub").context("the user has no attribute sub")?;
    Ok(sub.value().context("the attribute sub is empty")?.to_owned())
}
