"""Stub of the package botocore."""
