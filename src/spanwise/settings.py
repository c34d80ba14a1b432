"""All settings with type, unit and default. The only module that reads the environment."""

import os
import re
import secrets
import tomllib
from contextlib import suppress
from ipaddress import ip_network
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Any
from urllib.parse import urlsplit, urlunsplit

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from spanwise.model.errors import StartError

ENV_PREFIX = "SPANWISE_"
TOML_FILE = "spanwise.toml"
MIN_SECRET_CHARACTERS = 32
MAX_DEFAULT_MEMORY_MB = 8192
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


def _half_of_memory_mb() -> int:
    total_mb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    return min(total_mb // 2, MAX_DEFAULT_MEMORY_MB)


class Settings(BaseSettings):
    """In order of precedence: a flag of `spanwise serve`, the environment, `spanwise.toml`."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, toml_file=TOML_FILE, extra="forbid", frozen=True
    )

    host: str = Field("127.0.0.1", description="Address on which HTTP listens.")
    port: int = Field(8787, ge=0, le=65535, description="Port on which HTTP listens.")
    data_dir: Path = Field(
        Path("spanwise-data"),
        description="Folder of the embedded stores, the generated secret and `outbox/`.",
    )
    otlp_grpc_port: int = Field(
        4317,
        ge=0,
        le=65535,
        description="Port for OTLP over gRPC; 0 = off. If it is in use, the service starts without "
        "gRPC.",
    )
    telemetry_url: SecretStr | None = Field(
        None,
        description="Telemetry store: chDB in the data folder, or a ClickHouse server, "
        "`clickhouse[s]://user:password@host/database`.",
    )
    clickhouse_cluster: str | None = Field(
        None,
        pattern="^[A-Za-z0-9_-]+$",
        description="Name of a ClickHouse cluster; tables are replicated on all its nodes.",
    )
    catalog_url: SecretStr | None = Field(
        None,
        description="Catalog (accounts, workspaces, keys, agents, prices, alert rules, alerts, "
        "experiments, views, dashboards, audit): SQLite in the data folder, or "
        "`postgresql://user:password@host/database`.",
    )
    redis_url: SecretStr | None = Field(
        None, description="`redis://host:6379/0`; shares rate-limit counters between replicas."
    )
    secret_key: SecretStr | None = Field(
        None,
        description="Signs tokens; at least 32 characters. Generated on first start and kept in "
        "the data folder with mode 0600.",
    )
    public_url: str | None = Field(
        None,
        description="Base URL in mails and links; default: built from host and port. With `https` "
        "the dashboard's cookie is sent over `https` only.",
    )
    smtp_url: SecretStr | None = Field(
        None,
        description="`smtp[s]://user:password@host:port`; without it mails are written to files in "
        "`outbox/`.",
    )
    mail_from: str = Field("Spanwise <spanwise@localhost>", description="Sender of mails.")
    rate_limit_standard: int = Field(
        100, ge=0, description="Requests per minute and caller, standard tier; 0 = unlimited."
    )
    rate_limit_strict: int = Field(
        20, ge=0, description="Requests per minute and caller, strict tier; 0 = unlimited."
    )
    rate_limit_ingestion: int = Field(
        500, ge=0, description="Requests per minute and caller, ingestion tier; 0 = unlimited."
    )
    require_verified_email: bool = Field(
        False, description="Sign-in requires a verified e-mail address."
    )
    open_registration: bool = Field(
        True,
        description="Anyone may register. When off, only the first account can; add others with "
        "`spanwise user add`.",
    )
    bootstrap_admin_email: str | None = Field(
        None, description="An installation without accounts starts with this admin."
    )
    bootstrap_admin_password: SecretStr | None = Field(
        None, description="The first admin's password."
    )
    bootstrap_admin_password_file: Path | None = Field(
        None, description="File with the first admin's password, such as a mounted secret."
    )
    bootstrap_workspace: str | None = Field(
        None, max_length=200, description="Name of the first admin's workspace."
    )
    bootstrap_ingest_key: SecretStr | None = Field(
        None,
        description="An ingest key of that workspace: `sw_` and at least 32 letters or digits.",
    )
    password_login: bool = Field(
        True,
        description="People may register and sign in with a password. When off, single sign-on is "
        "the only way; `spanwise user` still works.",
    )
    oidc_issuer: str | None = Field(
        None,
        description="Issuer URL of an OpenID Connect provider; together with client id and secret "
        "it turns on single sign-on.",
    )
    oidc_client_id: str | None = Field(None, description="Client id at the provider.")
    oidc_client_secret: SecretStr | None = Field(None, description="Client secret at the provider.")
    oidc_name: str = Field(
        "single sign-on",
        min_length=1,
        max_length=60,
        description="Name of the provider on the button “Continue with …”.",
    )
    oidc_scopes: str = Field(
        "openid email profile",
        pattern=r"(^|\s)openid(\s|$)",
        description="Scopes that are requested, separated by spaces; `openid` is required.",
    )
    oidc_create_users: bool = Field(
        True,
        description="The first single sign-on of a person creates the account. When off, it must "
        "exist, or the person must be invited.",
    )
    oidc_domains: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Comma-separated domains of the addresses that may use single sign-on; empty = "
        "all addresses of the provider.",
    )
    oidc_role_claim: str | None = Field(
        None, description="Claim that lists workspaces and roles, such as `wsp_…:editor`."
    )
    oidc_trust_email: bool = Field(
        False,
        description="Accept addresses that the provider does not declare as verified. Only for a "
        "provider whose users cannot choose their address.",
    )
    prices_file: Path | None = Field(
        None,
        description="List of model prices, in the JSON format of genai-prices, that replaces the "
        "built-in one; default: `prices.json` in the data folder, if it exists. Read again when it "
        "changes.",
    )
    jwt_hours: float = Field(
        24, gt=0, le=24 * 365, description="Lifetime of a sign-in token, hours."
    )
    alert_interval_seconds: float = Field(
        60, ge=0.1, le=3600, description="Interval between evaluations of alert rules, seconds."
    )
    allow_private_webhooks: bool = Field(
        False,
        description="Webhooks may connect to private addresses, such as the local network.",
    )
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Comma-separated origins that may call the API from a browser; empty = none.",
    )
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        ("127.0.0.1", "::1"),
        description="Comma-separated addresses and networks of proxies whose `X-Forwarded-For` and "
        "`X-Forwarded-Proto` are trusted; `*` = every peer.",
    )
    retention_days: int = Field(
        0, ge=0, le=36_500, description="Telemetry older than this is deleted; 0 = keep all."
    )
    memory_limit_mb: int = Field(
        default_factory=_half_of_memory_mb,
        ge=256,
        description="Memory for engine, caches and ingest queue together, MiB; default: half of "
        "the machine's memory, at most 8192.",
    )
    max_items: int = Field(
        10_000,
        ge=1,
        description="Spans, log records, metrics or data points of one request.",
    )
    max_resources: int = Field(
        10_000, ge=1, description="Resources, or instrumentation scopes, of one OTLP request."
    )
    max_events: int = Field(
        150_000,
        ge=1,
        description="Span events, span links or exemplars of one request.",
    )
    max_values: int = Field(
        500_000,
        ge=1,
        description="Attributes and values in arrays and maps of one request, together; values of "
        "a JSON body.",
    )
    min_free_disk_mb: int = Field(
        512,
        ge=0,
        description="Ingest returns 503 while the data folder's disk has less free space, MiB; "
        "the reserve lets the engine merge and delete.",
    )
    log_level: str = Field(
        "info", pattern="^(debug|info|warning|error)$", description="Minimum level of log lines."
    )
    log_format: str = Field(
        "auto",
        pattern="^(auto|json|console)$",
        description="`json`, `console`, or `auto`: console on a terminal.",
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @field_validator("secret_key")
    @classmethod
    def _check_secret_key(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and len(value.get_secret_value()) < MIN_SECRET_CHARACTERS:
            raise ValueError(f"must have at least {MIN_SECRET_CHARACTERS} characters")
        return value

    @field_validator("bootstrap_admin_email")
    @classmethod
    def _check_bootstrap_email(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"[^@\s]+@[^@\s]+", value):
            raise ValueError("must be an e-mail address")
        return value

    @field_validator("bootstrap_ingest_key")
    @classmethod
    def _check_bootstrap_key(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not re.fullmatch(
            r"sw_[A-Za-z0-9]{32,200}", value.get_secret_value()
        ):
            raise ValueError("must be sw_ and at least 32 letters or digits")
        return value

    @field_validator("cors_origins", mode="before")
    @classmethod
    def _split_origins(cls, value: Any) -> Any:  # noqa: ANN401 -- unvalidated input
        if isinstance(value, str):
            return tuple(part.strip().rstrip("/") for part in value.split(",") if part.strip())
        return value

    @field_validator("trusted_proxies", "oidc_domains", mode="before")
    @classmethod
    def _split_list(cls, value: Any) -> Any:  # noqa: ANN401 -- unvalidated input
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("oidc_domains")
    @classmethod
    def _check_oidc_domains(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(domain.lower().removeprefix("@") for domain in value)

    @field_validator("trusted_proxies")
    @classmethod
    def _check_trusted_proxies(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for part in value:
            if part == "*":
                continue
            try:
                ip_network(part)
            except ValueError as error:
                raise ValueError(
                    f"must contain addresses, networks such as 10.0.0.0/8, or *: {error}"
                ) from None
        return value

    @field_validator("catalog_url")
    @classmethod
    def _check_catalog_url(cls, value: SecretStr | None) -> SecretStr | None:
        return _check_scheme(value, "sqlite", "postgresql")

    @field_validator("telemetry_url")
    @classmethod
    def _check_telemetry_url(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and value.get_secret_value().startswith("chdb://"):
            return value
        return _check_scheme(value, "clickhouse", "clickhouses")

    @field_validator("redis_url")
    @classmethod
    def _check_redis_url(cls, value: SecretStr | None) -> SecretStr | None:
        return _check_scheme(value, "redis", "rediss")

    @field_validator("smtp_url")
    @classmethod
    def _check_smtp_url(cls, value: SecretStr | None) -> SecretStr | None:
        return _check_scheme(value, "smtp", "smtps")

    @field_validator("public_url")
    @classmethod
    def _check_public_url(cls, value: str | None) -> str | None:
        _check_address(value, "http", "https")
        return value

    @field_validator("oidc_issuer")
    @classmethod
    def _check_oidc_issuer(cls, value: str | None) -> str | None:
        _check_address(value, "https", "http")
        if value and value.startswith("http:") and urlsplit(value).hostname not in _LOOPBACK:
            raise ValueError("must begin with https://; http:// is for localhost only")
        return value

    @model_validator(mode="after")
    def _check_single_sign_on(self) -> "Settings":
        names = ("oidc_issuer", "oidc_client_id", "oidc_client_secret")
        missing = [f"{ENV_PREFIX}{name.upper()}" for name in names if not getattr(self, name)]
        if 0 < len(missing) < len(names):
            raise ValueError(f"single sign-on also needs {' and '.join(missing)}")
        if missing and not self.password_login:
            raise ValueError(f"{ENV_PREFIX}PASSWORD_LOGIN: cannot be off without single sign-on")
        return self

    @property
    def price_list_path(self) -> Path:
        return self.prices_file or self.data_dir / "prices.json"

    @property
    def has_single_sign_on(self) -> bool:
        return bool(self.oidc_issuer)

    @property
    def catalog_address(self) -> str:
        """The catalog's URL, with the default filled in."""
        if self.catalog_url is not None:
            return self.catalog_url.get_secret_value()
        return f"sqlite:///{self.data_dir / 'catalog.db'}"

    @property
    def public_address(self) -> str:
        """The public base URL, without a trailing slash."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (self.public_url or f"http://{host}:{self.port}").rstrip("/")

    @property
    def has_https(self) -> bool:
        return self.public_address.startswith("https://")


def load_settings(**flags: object) -> Settings:
    """Read all sources; raises StartError with the variable name for an invalid value."""
    try:
        return Settings(**{name: value for name, value in flags.items() if value is not None})  # type: ignore[arg-type]
    except ValidationError as error:
        raise StartError("; ".join(_describe(problem) for problem in error.errors())) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise StartError(f"cannot read {TOML_FILE}: {error}") from None


def _describe(problem: ErrorDetails) -> str:
    if not problem["loc"]:
        # About several settings, which the message names.
        return problem["msg"].removeprefix("Value error, ")
    name = str(problem["loc"][0])
    if problem["type"] == "extra_forbidden":
        return f"{TOML_FILE}: there is no setting {name}"
    return f"{ENV_PREFIX}{name.upper()}: {problem['msg'].removeprefix('Value error, ')}"


def prepare_data_dir(settings: Settings) -> None:
    """Create the data folder if it does not exist."""
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _data_dir_error(settings, error) from None


def _data_dir_error(settings: Settings, error: OSError) -> StartError:
    return StartError(f"{ENV_PREFIX}DATA_DIR: cannot use {settings.data_dir}: {error.strerror}")


def secret_file(settings: Settings) -> Path:
    return settings.data_dir / "secret.key"


def load_secret_key(settings: Settings) -> str:
    """Return the signing secret; the first start generates one that only this user can read."""
    if settings.secret_key is not None:
        return settings.secret_key.get_secret_value()
    prepare_data_dir(settings)
    path = secret_file(settings)
    try:
        if not path.exists():
            _create_secret(path)
        secret = path.read_text().strip()
    except OSError as error:
        raise _data_dir_error(settings, error) from None
    if len(secret) < MIN_SECRET_CHARACTERS:
        raise StartError(f"{path} must contain at least {MIN_SECRET_CHARACTERS} characters")
    return secret


def _create_secret(path: Path) -> None:
    # Linked into place when complete, so that a concurrent start never reads a partial secret.
    with NamedTemporaryFile("w", dir=path.parent, prefix=path.name) as file:
        file.write(secrets.token_urlsafe(48))
        file.flush()
        os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(file.name, path)


def show_setting(value: object) -> str:
    """Format a setting for display, with secrets hidden."""
    if isinstance(value, SecretStr):
        return _hide_password(value.get_secret_value())
    if isinstance(value, tuple):
        return ", ".join(str(part) for part in value)
    return "" if value is None else str(value)


def _hide_password(text: str) -> str:
    parts = urlsplit(text)
    if not parts.scheme or not parts.hostname:
        return "(hidden)"
    user = f"{parts.username}:***@" if parts.password else ""
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, user + host, parts.path, "", ""))


def _check_scheme(value: SecretStr | None, *schemes: str) -> SecretStr | None:
    _check_address(value.get_secret_value() if value else None, *schemes)
    return value


def _check_address(address: str | None, *schemes: str) -> None:
    if address is None:
        return
    parts = urlsplit(address)
    if parts.scheme not in schemes:
        raise ValueError("must begin with " + " or ".join(f"{scheme}://" for scheme in schemes))
    try:
        _ = parts.port
    except ValueError:
        raise ValueError("the port must be a number from 0 to 65535") from None
