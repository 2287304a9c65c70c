"""The client of AWS, boto3, and the credentials that options give it. Rule: `HoodieAWSConfig`."""

from __future__ import annotations

import importlib
import re
from typing import Any, Final

from pyhudi.errors import OptionError, did_you_mean
from pyhudi.spec.options import Options

_ACCESS: Final = "hoodie.aws.access.key"
_SECRET: Final = "hoodie.aws.secret.key"  # noqa: S105 - the name of an option
#: The arguments of a client by the option that gives them; boto3 looks for others itself: environment, profile, instance.
_CREDENTIALS: Final = {
    _ACCESS: "aws_access_key_id",
    _SECRET: "aws_secret_access_key",
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

    Raises:
        OptionError: of two options that belong together one is missing.

    Example:
        >>> from pyhudi.spec.options import resolve
        >>> credentials(resolve({"hoodie.aws.access.key": "a", "hoodie.aws.secret.key": "b"}))
        {'aws_access_key_id': 'a', 'aws_secret_access_key': 'b'}
    """
    given = {name: value for name in _CREDENTIALS if (value := options.get(name))}
    missing = [name for name in (_ACCESS, _SECRET) if given and name not in given]
    if missing:
        raise OptionError(
            f"{' and '.join(given)} {'is' if len(given) == 1 else 'are'} given without {' and '.join(missing)}: give both keys, or none,"
            " for the credentials that boto3 finds itself."
        )
    return {_CREDENTIALS[name]: value for name, value in given.items()}


def refusal(error: Any) -> str:
    """Return code and message of a `ClientError` as one line; what is no service of AWS may answer with a page of HTML."""
    details = error.response.get("Error", {})
    return f"{details.get('Code')}: {' '.join(re.sub(r'<[^>]*>', ' ', str(details.get('Message'))).split())}"


def no_answer(error: Any, service: str, region: tuple[str, str]) -> str:
    """Return why a request was not answered, and which option may be wrong.

    Args:
        error: a `BotoCoreError`.
        service: the name of the service for boto3.
        region: that of the client, and the option that names it.
    """
    kind = type(error).__name__
    if kind in ("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "TokenRetrievalError"):
        return f"{error}. Give {_ACCESS} and {_SECRET}, or what else boto3 finds: the environment, a profile, a role"
    name, option = region
    known = list_regions(service)
    if kind == "EndpointConnectionError" and name not in known:
        return f"{error}. {option} is '{name}', which is no region that boto3 knows.{did_you_mean(name, known)}"
    return str(error)


def list_regions(service: str) -> list[str]:
    """Return the regions in which boto3 knows a service."""
    session = importlib.import_module("boto3.session").Session()
    return sorted({region for one in session.get_available_partitions() for region in session.get_available_regions(service, one)})
