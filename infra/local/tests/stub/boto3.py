"""Stub of boto3: appends each call as a line to the file named by `CALLS`, and finds no user called `nobody`."""

import os

from botocore.exceptions import ClientError


class UserNotFoundException(ClientError):
    pass


class Exceptions:
    UserNotFoundException = UserNotFoundException


class Service:
    exceptions = Exceptions

    def Table(self, name):
        return self

    def batch_writer(self):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def query(self, **_):
        return {"Items": []}

    def delete_item(self, Key):
        note(f"delete_item {Key['PK']}")

    def delete_object(self, Bucket, Key):
        note(f"delete_object {Key}")

    def admin_delete_user(self, UserPoolId, Username):
        note(f"admin_delete_user {Username}")
        if Username == "nobody":
            raise UserNotFoundException({"Error": {"Code": "UserNotFoundException", "Message": ""}}, "")


def note(call):
    with open(os.environ["CALLS"], "a") as calls:
        calls.write(call + "\n")


def client(service, config=None):
    return Service()


resource = client
