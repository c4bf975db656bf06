"""xtask's queries to the deployed stack, with boto3 (a dependency of SAM).

Run by xtask with the tools' own Python; the endpoint and the dummy credentials
come from the environment. Prints one JSON document, or lines of text for `events`.

    stack.py describe STACK             outputs and physical names of the functions
    stack.py account STACK              quota of concurrent executions, and the stack's parameters (null without a stack)
    stack.py events STACK               the events that explain a failed deployment
    stack.py update-code FUNCTION FILE  replace a function's code by FILE, as `bootstrap`
    stack.py config FUNCTION            environment, memory and timeout of a function
    stack.py routes API                 route key -> function of an HTTP API
    stack.py sign-in POOL CLIENT        create missing users of a user pool, and get a fresh token for each;
                                        names and passwords are passed by stdin and stdout, because process lists
                                        show arguments
    stack.py return-to POOL CLIENT URL  set the only URL that the sign-in page may return to
"""

import io
import json
import secrets
import sys
import zipfile

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

CONFIG = Config(retries={"max_attempts": 2}, read_timeout=60)


def client(service):
    return boto3.client(service, config=CONFIG)


def describe(stack):
    cloudformation = client("cloudformation")
    found = found_stack(cloudformation, stack)
    if found is None:
        return {"status": None, "outputs": {}, "functions": {}}
    resources = []
    for page in cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack):
        resources += page["StackResourceSummaries"]
    return {
        "status": found["StackStatus"],
        "outputs": {o["OutputKey"]: o["OutputValue"] for o in found.get("Outputs", [])},
        "functions": {
            r["LogicalResourceId"]: r["PhysicalResourceId"]
            for r in resources
            if r["ResourceType"] == "AWS::Lambda::Function"
        },
    }


def account(stack):
    # Separate results: if one call is not permitted, or not supported by the emulator, the other still works.
    return {"quota": tried(quota), "parameters": tried(lambda: parameters(stack))}


def tried(ask):
    try:
        return {"Ok": ask()}
    except Exception as error:
        return {"Err": str(error)}


def quota():
    return client("lambda").get_account_settings()["AccountLimit"]["ConcurrentExecutions"]


def parameters(stack):
    # Without a name, CloudFormation describes every stack.
    found = found_stack(client("cloudformation"), stack) if stack else None
    # A stack with only a change set counts as not deployed, as in SAM.
    if found is None or found["StackStatus"] == "REVIEW_IN_PROGRESS":
        return None
    return {p["ParameterKey"]: p["ParameterValue"] for p in found.get("Parameters", [])}


def found_stack(cloudformation, stack):
    """Returns the stack, or None if it does not exist. Any other error, such as expired credentials, is raised."""
    try:
        return cloudformation.describe_stacks(StackName=stack)["Stacks"][0]
    except ClientError as error:
        refusal = error.response["Error"]
        if refusal["Code"] != "ValidationError" or "does not exist" not in refusal["Message"]:
            raise
        return None


def events(stack):
    found = client("cloudformation").describe_stack_events(StackName=stack)["StackEvents"]
    for event in reversed(found[:200]):
        if "FAILED" in event["ResourceStatus"] or "ROLLBACK" in event["ResourceStatus"]:
            reason = event.get("ResourceStatusReason", "")
            print(f'{event["ResourceStatus"]}  {event["LogicalResourceId"]}  {reason}')


def update_code(function, path):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as file:
        # A fixed date, so that the same binary gives the same archive and hash.
        entry = zipfile.ZipInfo("bootstrap", (1980, 1, 1, 0, 0, 0))
        entry.external_attr = 0o755 << 16
        with open(path, "rb") as binary:
            file.writestr(entry, binary.read())
    answer = client("lambda").update_function_code(
        FunctionName=function, ZipFile=archive.getvalue()
    )
    return {"codeSha256": answer["CodeSha256"]}


def config(function):
    found = client("lambda").get_function_configuration(FunctionName=function)
    return {
        "environment": found.get("Environment", {}).get("Variables", {}),
        "memoryMb": found.get("MemorySize", 128),
        "timeoutS": found.get("Timeout", 3),
    }


def routes(api):
    gateway = client("apigatewayv2")
    targets = {}
    for integration in gateway.get_integrations(ApiId=api, MaxResults="500")["Items"]:
        # arn:aws:apigateway:…:lambda:path/…/functions/ARN/invocations, or the function's own ARN
        uri = integration.get("IntegrationUri", "")
        name = uri.split("function:")[-1].split("/")[0].split(":")[0]
        targets["integrations/" + integration["IntegrationId"]] = name
    found = gateway.get_routes(ApiId=api, MaxResults="500")["Items"]
    return {r["RouteKey"]: targets.get(r.get("Target", ""), "") for r in found}


def sign_in(pool, app_client):
    cognito = client("cognito-idp")
    return [signed_in(cognito, pool, app_client, user) for user in json.load(sys.stdin)]


def signed_in(cognito, pool, app_client, user):
    name = user["name"]
    try:
        found = cognito.admin_get_user(UserPoolId=pool, Username=name)["UserAttributes"]
    except cognito.exceptions.UserNotFoundException:
        # Only used by deployments with TenantClaim=custom:tenant.
        tenant = {"Name": "custom:tenant", "Value": name}
        made = cognito.admin_create_user(
            UserPoolId=pool, Username=name, MessageAction="SUPPRESS", UserAttributes=[tenant]
        )
        found = made["User"]["Attributes"]
        user["password"] = ""
    if not user.get("password"):
        # Upper-case and lower-case letters and a digit, as the pool's policy requires.
        user["password"] = "Aa1-" + secrets.token_urlsafe(18)
        cognito.admin_set_user_password(
            UserPoolId=pool, Username=name, Password=user["password"], Permanent=True
        )
    for group in user.get("groups", []):
        cognito.admin_add_user_to_group(UserPoolId=pool, Username=name, GroupName=group)
    answer = cognito.admin_initiate_auth(
        UserPoolId=pool,
        ClientId=app_client,
        AuthFlow="ADMIN_USER_PASSWORD_AUTH",
        AuthParameters={"USERNAME": name, "PASSWORD": user["password"]},
    )
    tokens = answer["AuthenticationResult"]
    attributes = {a["Name"]: a["Value"] for a in found}
    return {
        "name": name,
        "password": user["password"],
        "sub": attributes["sub"],
        "accessToken": tokens["AccessToken"],
        "idToken": tokens["IdToken"],
    }


def return_to(pool, app_client, url):
    cognito = client("cognito-idp")
    found = cognito.describe_user_pool_client(UserPoolId=pool, ClientId=app_client)["UserPoolClient"]
    # An update replaces all settings, so the current ones are sent again.
    made = ["ClientSecret", "CreationDate", "LastModifiedDate"]
    kept = {name: value for name, value in found.items() if value != "" and name not in made}
    cognito.update_user_pool_client(**kept | {"CallbackURLs": [url], "LogoutURLs": [url]})


COMMANDS = {
    "account": account,
    "describe": describe,
    "events": events,
    "update-code": update_code,
    "config": config,
    "routes": routes,
    "sign-in": sign_in,
    "return-to": return_to,
}

if __name__ == "__main__":
    answer = COMMANDS[sys.argv[1]](*sys.argv[2:])
    if answer is not None:
        print(json.dumps(answer))
