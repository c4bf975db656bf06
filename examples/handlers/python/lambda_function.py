"""A Lambda function of Longshore: `lambda_function.lambda_handler`, Python 3.10 or newer."""
from contacts import handle


def lambda_handler(event, context):
    """Processes a batch of items, or answers a ping."""
    return handle(event, context)
