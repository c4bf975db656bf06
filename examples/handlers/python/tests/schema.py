"""A validator of the JSON Schema keywords that the contract's schemas use. It refuses all other keywords."""

import re

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "null": type(None)}
ANNOTATIONS = {"$schema", "$id", "$defs", "title", "description", "format", "then"}


def is_valid(schema, value, root=None):
    """Returns whether a value is valid."""
    root = root or schema
    return all(holds(keyword, schema, value, root) for keyword in schema if keyword not in ANNOTATIONS)


def holds(keyword, schema, value, root):
    """Returns whether a value meets one keyword of a schema."""
    rule = schema[keyword]
    match keyword:
        case "$ref":
            return is_valid(root["$defs"][rule.removeprefix("#/$defs/")], value, root)
        case "type":
            return any(is_type(name, value) for name in ([rule] if isinstance(rule, str) else rule))
        case "const":
            return value == rule
        case "enum":
            return value in rule
        case "not":
            return not is_valid(rule, value, root)
        case "allOf":
            return all(is_valid(one, value, root) for one in rule)
        case "anyOf":
            return any(is_valid(one, value, root) for one in rule)
        case "oneOf":
            return sum(is_valid(one, value, root) for one in rule) == 1
        case "if":
            return not is_valid(rule, value, root) or is_valid(schema["then"], value, root)
    return holds_for_type(keyword, rule, value, root)


def holds_for_type(keyword, rule, value, root):
    """Returns whether a value meets a keyword that is about one type. Values of other types meet it."""
    match keyword:
        case "required":
            return not isinstance(value, dict) or set(rule) <= set(value)
        case "properties":
            return not isinstance(value, dict) or all(
                is_valid(rule[name], value[name], root) for name in rule if name in value)
        case "items":
            return not isinstance(value, list) or all(is_valid(rule, one, root) for one in value)
        case "contains":
            return not isinstance(value, list) or any(is_valid(rule, one, root) for one in value)
        case "minItems":
            return not isinstance(value, list) or len(value) >= rule
        case "maxItems":
            return not isinstance(value, list) or len(value) <= rule
        case "minLength":
            return not isinstance(value, str) or len(value) >= rule
        case "maxLength":
            return not isinstance(value, str) or len(value) <= rule
        case "pattern":
            return not isinstance(value, str) or re.search(rule, value) is not None
        case "minimum":
            return not is_type("number", value) or value >= rule
    raise ValueError(f"unknown keyword {keyword}")


def is_type(name, value):
    """Returns whether a value has a type of JSON Schema. A boolean is no number."""
    return isinstance(value, TYPES[name]) and not (isinstance(value, bool) and name in ("integer", "number"))
