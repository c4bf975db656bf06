"""Stub of `botocore.config`."""


class Config:
    def __init__(self, **_):
        pass
