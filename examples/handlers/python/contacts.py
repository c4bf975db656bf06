"""Checks and completes a contact: returns its normalised e-mail address, and the code of its country."""
import re
import unicodedata

from longshore_handler import handler, reject, retry, skip

EMAIL = re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+")
COUNTRIES = {"france": "FR", "germany": "DE", "deutschland": "DE", "new zealand": "NZ", "türkiye": "TR"}


def find_country(name):
    """Returns the code of a country, or None. A service would raise TimeoutError while it is busy."""
    return COUNTRIES.get(name)


def check_contact(record, item, find=find_country):
    """Processes one record. It has no effect, so it may be repeated; an effect would use `item.key` as its key."""
    email, country = (normalised(record.get(column)) for column in ("email", "country"))
    if not email:
        raise skip("no_email")
    if not EMAIL.fullmatch(email):
        raise reject("bad_email", "email", "This is not an e-mail address.")
    try:
        code = find(country)
    except TimeoutError:
        raise retry("the directory of countries is busy", after=30) from None
    if code is None:
        raise reject("unknown_country", "country", "No country has this name.")
    return {"email": email, "country": code}


def normalised(text):
    return unicodedata.normalize("NFKC", text or "").strip().lower()


handle = handler(check_contact, modes=("run", "validate"))
