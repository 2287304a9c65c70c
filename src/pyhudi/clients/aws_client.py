"""The client of AWS, boto3, and the credentials that options give it. Rule: `HoodieAWSConfig`."""

from __future__ import annotations

import importlib
from typing import Any, Final

from pyhudi.errors import OptionError
from pyhudi.spec.options import Options

#: The arguments of a client by the option that gives them; boto3 looks for others itself: environment, profile, instance.
_CREDENTIALS: Final = {
    "hoodie.aws.access.key": "aws_access_key_id",
    "hoodie.aws.secret.key": "aws_secret_access_key",
    "hoodie.aws.session.token": "aws_session_token",
}


def load_boto3(purpose: str, alternative: str) -> tuple[Any, Any]:
    """Return the modules of the client and of its errors.

    Args:
        purpose: what needs them, for the error, such as `"a sync with AWS Glue needs the package boto3: pip install 'pyhudi[glue]'"`.
        alternative: what to do without them, also for the error.

    Raises:
        OptionError: they are not installed.
    """
    try:
        return importlib.import_module("boto3"), importlib.import_module("botocore.exceptions")
    except ImportError as error:
        raise OptionError(f"{purpose}, or {alternative}") from error


def credentials(options: Options) -> dict[str, str]:
    """Return the arguments of a client that options give.

    Example:
        >>> from pyhudi.spec.options import resolve
        >>> credentials(resolve({"hoodie.aws.access.key": "a"}))
        {'aws_access_key_id': 'a'}
    """
    return {argument: value for name, argument in _CREDENTIALS.items() if (value := options.get(name))}
