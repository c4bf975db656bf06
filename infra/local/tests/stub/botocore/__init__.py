"""A package, as botocore is one."""
