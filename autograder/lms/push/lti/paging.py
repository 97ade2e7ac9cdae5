"""Lists in pages: where the next page is, and whether an address that a platform names may be followed."""

from __future__ import annotations

import contextlib
import re
from urllib.parse import urljoin, urlsplit, urlunsplit

from autograder.errors import ServerError
from autograder.lms.push.addresses import origin_of

_NEXT = re.compile(r"<([^>]*)>([^<]*)")
# Moodle writes curly quotes around it.
_REL = re.compile(r";\s*rel\s*=\s*[\"'“”]?(?:[\w-]+\s+)*next\b", re.IGNORECASE)


def next_page(link: str) -> str | None:
    """
    Return where a ``Link`` header says that the next page is.

    Parameters
    ----------
    link : str
        The header, as it was received.

    Returns
    -------
    str or None
        The address letter for letter; None if there is no next page.
    """
    with contextlib.suppress(UnicodeError):
        # As it was received: HTTP knows Latin-1 only.
        link = link.encode("latin-1").decode()
    for found in _NEXT.finditer(link):
        if _REL.search(found[2]):
            # Moodle makes the address for HTML.
            return found[1].strip().replace("&amp;", "&")
    return None


def same_server(url: str, base: str) -> str:
    """
    Return an address that a platform names, if it is on the server that named it.

    Parameters
    ----------
    url : str
        The address; it may be relative, or begin with ``http://`` where a proxy adds the encryption.
    base : str
        The address that was asked.

    Returns
    -------
    str
        Absolute, its case kept, encrypted if `base` is.

    Raises
    ------
    ServerError
        If it is on another server.
    """
    try:
        goal = urljoin(base, url)
        parts, asked = urlsplit(goal), urlsplit(base)
        is_plain = parts.scheme == "http" and parts.port in {None, 80}
    except ValueError:
        what = "it leads to what is no address"
        raise ServerError(base.partition("?")[0], what, "Tell the operator of the LMS.") from None
    if is_plain and asked.scheme == "https":
        goal = urlunsplit(parts._replace(scheme="https", netloc=parts.netloc.removesuffix(":80")))
    if origin_of(goal) != origin_of(base) or "@" in parts.netloc:
        host = f"{parts.scheme}://{parts.hostname}"
        what = f"it leads to another server, {host!r}"
        raise ServerError(base.partition("?")[0], what, "Tell the operator of the LMS.")
    return goal
