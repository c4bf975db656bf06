"""A function of another team that reads a queue which is not its own. It does nothing with the messages."""


def lambda_handler(event, context):
    print(len(event["Records"]), "messages")
    return {}
