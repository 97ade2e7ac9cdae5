"""Addresses of servers: which may be sent secrets, and which server one leads to."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from autograder.errors import CourseError
from autograder.terminal import printable

Origin = tuple[str, str, int]
"""Scheme, host and port of a server."""

PORTS = {"https": 443, "http": 80}
"""Schemes that are spoken, and their usual ports."""


def origin_of(url: str) -> Origin:
    """
    Return which server an address leads to.

    Parameters
    ----------
    url : str
        Any address.

    Returns
    -------
    Origin
        In lower case, the port filled in; ``("", "", 0)`` if it is no address.
    """
    try:
        parts = urlsplit(url)
        port = PORTS.get(parts.scheme, 0) if parts.port is None else parts.port
    except ValueError:
        return "", "", 0
    return parts.scheme, (parts.hostname or "").rstrip("."), port


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine, by its name or number alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def checked_address(url: str, by: str) -> str:
    """
    Return the address of a server if secrets may be sent there.

    Parameters
    ----------
    url : str
        The address, as somebody typed it.
    by : str
        The option or setting that names it.

    Returns
    -------
    str
        Without a slash at its end.

    Raises
    ------
    CourseError
        If it is not ``https://`` (``http://`` will do for this machine), has no host, or holds more than
        host, port and path: a password in it would be shown wherever the address is.
    """
    url = url.strip()
    scheme, host, port = origin_of(url)
    if any(char in url for char in "@?#\\"):
        raise CourseError(by, "has more in it than an address", "Give scheme, host and path only, no secret.")
    if not host or not port or not url.isprintable() or " " in url:
        raise CourseError(by, f"{printable(url)!r} is no address", "It begins with https://, then the host.")
    if scheme != "https" and not (scheme == "http" and is_loopback(host)):
        what = f"{printable(url)!r} is not encrypted: everybody on the way could read the secret"
        raise CourseError(by, what, "Use its address that begins with https://.")
    return url.rstrip("/")
