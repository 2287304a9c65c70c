"""What a profile in the AWS configuration files says: static keys and the region.

Rule: the AWS SDKs' shared `config` and `credentials` files. obstore reads the environment, and roles of machines and containers, but not
these files.
"""

from __future__ import annotations

import configparser
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pyhudi.errors import OptionError

_KEYS: Final = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
#: Settings by which other processes or services give the credentials; a client of AWS is needed to ask them.
_INDIRECT: Final = ("sso_session", "sso_start_url", "role_arn", "credential_process", "web_identity_token_file")


def read_profile(profile: str | None, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a profile under obstore's names; without a name those of `AWS_PROFILE`, or `default`, if there are any.

    Raises:
        OptionError: the named profile does not exist, is not complete, or the files cannot be parsed.
    """
    name = profile or environment.get("AWS_PROFILE") or "default"
    home = Path(environment.get("HOME", "~")).expanduser() / ".aws"
    credentials = _section(environment.get("AWS_SHARED_CREDENTIALS_FILE"), home / "credentials", name)
    config = _section(environment.get("AWS_CONFIG_FILE"), home / "config", name if name == "default" else f"profile {name}")
    stated = {**config, **credentials}
    if profile and not stated:
        raise OptionError(f"the AWS configuration files have no profile '{profile}'")
    indirect = [setting for setting in _INDIRECT if setting in stated]
    if indirect and _KEYS[0] not in stated:
        raise OptionError(
            f"the AWS profile '{name}' has its credentials by '{indirect[0]}', which is not served: put temporary ones into the environment"
            f" (`aws configure export-credentials --profile {name} --format env`), or give them as storage options"
        )
    settings: dict[str, str] = {key: stated[key] for key in _KEYS if key in stated}
    settings |= {"aws_region": stated["region"]} if "region" in stated else {}
    return settings | ({"aws_endpoint": stated["endpoint_url"]} if "endpoint_url" in stated else {})


def _section(stated: str | None, default: Path, name: str) -> dict[str, str]:
    path = Path(stated).expanduser() if stated else default
    parser = configparser.RawConfigParser()
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError) as error:
        raise OptionError(f"the AWS configuration file '{path}' cannot be parsed: {error}") from error
    return dict(parser[name]) if parser.has_section(name) else {}
