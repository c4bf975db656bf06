"""Stands in for botocore's module of that name."""


class Config:
    def __init__(self, **_):
        pass
