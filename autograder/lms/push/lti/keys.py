"""The tool's key: made here, kept by its owner, and its public half printed for the platform."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from jwcrypto.jwk import JWK

from autograder.errors import OperatorError
from autograder.lms.push.tokens import Secret, Source, read_key

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.lms.push.lti.registration import Registration

VARIABLE = "AUTOGRADER_LTI_KEY"
OPTION = "--key-file"
KEY_FILE = "lti.key"
"""What the key's file is called, beside the registration, if nothing else is said."""
BITS = 3072
MIN_BITS = 2048
"""Bits of the shortest key that RS256 may be used with (RFC 7518, 3.3)."""

_ANOTHER = "Make another by `autograder push lti --keys`."


def key_source(registration: Registration, named: Path | None = None) -> Source:
    """
    Return where the private key may be.

    Parameters
    ----------
    registration : Registration
        The registration, which may name a file.
    named : Path, optional
        The file that the command line names.

    Returns
    -------
    Source
        The file of the command line, the variable, the file of the registration, `KEY_FILE` beside it.
    """
    return Source(
        what="the private key of the tool",
        variable=VARIABLE,
        option=OPTION,
        named=named,
        setting=f"key_file in {registration.where.name}",
        configured=registration.key_file or registration.where.parent / KEY_FILE,
    )


class ToolKey:
    """
    The private key of the tool, ready to sign.

    Parameters
    ----------
    secret : Secret
        RSA in PEM, without a password.

    Raises
    ------
    OperatorError
        If it is none that RS256 can use.
    """

    def __init__(self, secret: Secret) -> None:
        self.secret = secret
        if "ENCRYPTED" in secret.reveal():
            what = "is locked by a password, and nobody is there to be asked"
            raise OperatorError(secret.source, what, f"Make one without; {OPTION} names its file.")
        self._key = _parsed(secret)
        if self._key["kty"] != "RSA" or not self._key.has_private:
            raise OperatorError(secret.source, "is no private RSA key", _ANOTHER)
        bits = int(self.signer().key_size)
        if bits < MIN_BITS:
            what = f"has {bits} bits, and platforms want {MIN_BITS} or more"
            raise OperatorError(secret.source, what, _ANOTHER)

    def __repr__(self) -> str:
        return f"<key of {self.secret!r}>"

    def signer(self) -> Any:
        """Return the key as the library signs with it."""
        return self._key.get_op_key("sign")

    def public_keys(self) -> dict[str, list[dict[str, Any]]]:
        """
        Return the public half as a platform is told it: a JSON Web Key Set.

        Returns
        -------
        dict
            ``{"keys": [...]}``, one key, its ``kid`` being its thumbprint (RFC 7638).
        """
        public: dict[str, Any] = json.loads(self._key.export_public())
        return {"keys": [public | {"kid": self._key.thumbprint(), "alg": "RS256", "use": "sig"}]}

    def public_pem(self) -> str:
        """
        Return the public half in PEM, which Moodle and Open edX take in a form.

        Returns
        -------
        str
            From the line BEGIN PUBLIC KEY to the line END PUBLIC KEY.
        """
        pem: bytes = self._key.export_to_pem()
        return pem.decode()


def read_private_key(source: Source) -> ToolKey:
    """
    Return the private key, if platforms take it.

    Parameters
    ----------
    source : Source
        Where it may be.

    Returns
    -------
    ToolKey
        The key.

    Raises
    ------
    OperatorError
        As of `read_key` and `ToolKey`.
    """
    return ToolKey(read_key(source))


def make_private_key(path: Path) -> None:
    """
    Make a private key in a file that only its owner may read.

    Parameters
    ----------
    path : Path
        A new file.

    Raises
    ------
    OperatorError
        If it is there already, or cannot be written.
    """
    pem: bytes = JWK.generate(kty="RSA", size=BITS).export_to_pem(private_key=True, password=None)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        what = "is there already, and platforms may know it"
        raise OperatorError(path, what, "Name another file for another key.") from None
    except OSError as error:
        raise OperatorError(
            path, f"cannot be written ({error.strerror})", "Check rights and space."
        ) from None
    with os.fdopen(descriptor, "wb") as file:
        file.write(pem)


def _parsed(secret: Secret) -> JWK:
    try:
        return JWK.from_pem(secret.reveal().encode())
    except Exception:  # noqa: BLE001 - whatever two libraries find wrong; their words may show the key
        raise OperatorError(secret.source, "holds no key that can be used", "Copy the key again.") from None
