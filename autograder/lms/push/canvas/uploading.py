"""
A file on its way to a comment: announced to Canvas, sent to wherever Canvas says, confirmed.

The second step goes to another server than Canvas as often as not. It carries
what Canvas signed, and never the token.
"""

from __future__ import annotations

import json
import mimetypes
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from canvasapi.util import combine_kwargs

from autograder.errors import RefusedError, ServerError, UncertainError

if TYPE_CHECKING:
    import requests

    from autograder.lms.push.canvas.access import Access
    from autograder.lms.push.feedback import Feedback

ATTEMPTS = 3
"""How often the three steps are begun. What is left of a broken one is nowhere to be seen."""

_PREFIX = "while(1);"
_REFUSED = 400
_MOVED = range(300, 400)


def upload(access: Access, place: str, file: Feedback) -> int:
    """
    Upload a file that a comment is to have.

    Parameters
    ----------
    access : Access
        Which Canvas.
    place : str
        The submission's address, below the API's.
    file : Feedback
        Name and content.

    Returns
    -------
    int
        Canvas's number of the file.

    Raises
    ------
    ServerError
        If it could not be uploaded; Canvas shows it nowhere then.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return _uploaded(access, place, file)
        except UncertainError:
            if attempt == ATTEMPTS:
                raise
    raise AssertionError(place)


def _uploaded(access: Access, place: str, file: Feedback) -> int:
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    what = f"the file {file.name}"
    with access.asking(what), access.session.repeating():
        announced = {"name": file.name, "size": len(file.data), "content_type": kind}
        ask = access.requester.request
        ticket = ask("POST", f"{place}/comments/files", _kwargs=combine_kwargs(**announced)).json()
        url, given = str(ticket["upload_url"]), dict(ticket["upload_params"])
    fields = [(name, "" if value is None else str(value)) for name, value in given.items()]
    with access.asking(what):
        # requests writes the fields first and the file last, as the stores of files demand.
        sent = access.session.post(
            urljoin(access.url, url),
            data=fields,
            files={"file": (file.name, file.data, kind)},
            allow_redirects=False,
        )
        if sent.status_code >= _REFUSED:
            raise RefusedError(what, f"its store answers {sent.status_code}", "Repeat the command.")
        facts = _confirmed(access, sent)
        number, size = int(facts["id"]), facts.get("size")
    if size is not None and size != len(file.data):
        raise ServerError(what, f"Canvas has {size} of its {len(file.data)} bytes", "Repeat the command.")
    return number


def _confirmed(access: Access, sent: requests.Response) -> dict[str, Any]:
    """Return what Canvas says of the file, asking for it where the store only says where."""
    location = sent.headers.get("Location", "")
    if location and (sent.status_code in _MOVED or not _facts(sent).get("id")):
        target = urljoin(sent.url, location)
        if not access.is_own(target):
            raise ServerError(
                target, "is not Canvas, where the upload is to be confirmed", "Ask its operator."
            )
        return _facts(access.requester.request("GET", _url=target))
    return _facts(sent)


def _facts(answer: requests.Response) -> dict[str, Any]:
    try:
        facts = json.loads(answer.text.removeprefix(_PREFIX))
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}
