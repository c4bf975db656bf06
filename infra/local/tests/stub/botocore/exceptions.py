"""Stub of `botocore.exceptions`."""


class ClientError(Exception):
    def __init__(self, response, operation):
        error = response["Error"]
        super().__init__(f"An error occurred ({error['Code']}) when calling {operation}: {error['Message']}")
        self.response = response
