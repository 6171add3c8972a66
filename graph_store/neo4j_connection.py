"""A connection to a Neo4j server: who may connect, what went wrong in one sentence, retries.

User, password and database come from NEO4J_USERNAME (neo4j if only a password is set),
NEO4J_PASSWORD and NEO4J_DATABASE, the names that Neo4j's own tools read. Without a password the
connection has no authentication; without a database it is the user's home database.
"""

import contextlib
import logging
import os
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.redact import redact

if TYPE_CHECKING:
    from neo4j import Driver, ManagedTransaction

OLDEST_SERVER = 5
"""First major version with all that cypher.py says; later ones are named by year (2025.06)."""
CONNECT_SECONDS = 5.0
RETRY_SECONDS = 10.0
"""How long the driver tries a transaction again after a transient error."""
TRANSACTION_SECONDS = 120.0
"""After which the server ends a transaction, also one that waits for another writer's turn."""

Reason = Literal[
    "service_unavailable", "auth", "forbidden", "unsupported_server_version", "foreign_data", "busy"
]
Result = TypeVar("Result")


class GraphUnavailable(UserError):
    """A Neo4j server that cannot be used now: one sentence with address and cause, no password."""

    def __init__(self, reason: Reason, message: str) -> None:
        """Keep the reason beside the message."""
        super().__init__(message)
        self.reason = reason


class Neo4jConnection:
    """One server, its driver, and transactions that the driver itself repeats when it may.

    It may be used from several threads. When the server was gone, the next transaction first asks
    whether it is back: an audit waits for an outage once, not once a stage.
    """

    def __init__(self, address: str) -> None:
        """Connect, and check the server's version; nothing is written.

        Raises:
            GraphUnavailable: It cannot be reached, refuses the user, or is too old.
            UserError: The driver is not installed.
        """
        self.address = address
        self.shown = redact(address)
        with self._told():
            self._driver = _open_driver(address)
        self._gone = False
        self._database = os.environ.get("NEO4J_DATABASE") or None
        try:
            with self._told():
                agent = self._driver.get_server_info().agent
            self._check_version(agent)
        except BaseException:
            self._driver.close()
            raise

    def close(self) -> None:
        """Close the driver; a second call does nothing."""
        self._driver.close()

    def read(self, work: Callable[["ManagedTransaction"], Result]) -> Result:
        """Do the work in a read transaction, again after a transient error."""
        with self._told():
            self._see_whether_it_is_back()
            with self._driver.session(database=self._database) as session:
                return session.execute_read(work)

    def write(self, work: Callable[["ManagedTransaction"], Result]) -> Result:
        """Do the work in a write transaction: all of it or nothing, again after such an error."""
        from neo4j import unit_of_work

        with self._told():
            self._see_whether_it_is_back()
            with self._driver.session(database=self._database) as session:
                return session.execute_write(unit_of_work(timeout=TRANSACTION_SECONDS)(work))

    def _see_whether_it_is_back(self) -> None:
        if self._gone:
            self._driver.verify_connectivity()
            self._gone = False

    def _check_version(self, agent: str) -> None:
        found = re.match(r"Neo4j/(\d+)", agent)
        if found is None or int(found.group(1)) < OLDEST_SERVER:
            raise GraphUnavailable(
                "unsupported_server_version",
                f"Graph {self.shown!r} is {agent}; expected Neo4j {OLDEST_SERVER} or newer: "
                "upgrade the server, or keep the graph in SQLite (--graph sqlite).",
            )

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what the driver raises about the server into one sentence; a bug stays a bug."""
        from neo4j.exceptions import DriverError, Neo4jError

        try:
            yield
        except (DriverError, Neo4jError, OSError) as error:
            reason = _reason(error)
            if reason is None:
                raise
            self._gone = reason == "service_unavailable"
            raise GraphUnavailable(reason, self._sentence(reason, error)) from None

    def _sentence(self, reason: Reason, error: Exception) -> str:
        cause = redact(_cause(error))
        password = os.environ.get("NEO4J_PASSWORD")
        if password:
            cause = cause.replace(password, "[redacted]")
        return f"Graph {self.shown!r} {_WORDS[reason].format(cause=cause)}"


_WORDS: dict[Reason, str] = {
    "service_unavailable": (
        "cannot be reached ({cause}); expected a Neo4j server that runs there: start it, or name "
        "another graph with --graph."
    ),
    "auth": (
        "refuses the login ({cause}); expected the user and password of this server in "
        "NEO4J_USERNAME and NEO4J_PASSWORD: set both."
    ),
    "forbidden": (
        "cannot be written by this user ({cause}); expected the rights to read and write data, to "
        "create new labels, types and property names, constraints and indexes: grant them, or name "
        "another user in NEO4J_USERNAME."
    ),
    "busy": "is busy ({cause}); try again, or complete the graph later with `evenhand sync`.",
}


def _open_driver(address: str) -> "Driver":
    from neo4j import GraphDatabase

    # What the driver logs on the way is in the sentence too.
    logging.getLogger("neo4j").addHandler(logging.NullHandler())
    password = os.environ.get("NEO4J_PASSWORD")
    user = os.environ.get("NEO4J_USERNAME") or "neo4j"
    options: dict[str, Any] = {
        "auth": (user, password) if password else None,
        "connection_timeout": CONNECT_SECONDS,
        "connection_acquisition_timeout": 2 * CONNECT_SECONDS,
        "max_transaction_retry_time": RETRY_SECONDS,
        "initial_retry_delay": 0.2,
        # A broken connection that lay idle between two stages is found before it is used.
        "liveness_check_timeout": 10.0,
        "notifications_min_severity": "OFF",
        "telemetry_disabled": True,
        "user_agent": "evenhand",
    }
    return GraphDatabase.driver(address, **options)


def _reason(error: Exception) -> Reason | None:
    from neo4j import exceptions as of

    code = (error.code or "") if isinstance(error, of.Neo4jError) else ""
    match error:
        case of.Forbidden() | of.ForbiddenOnReadOnlyDatabase():
            return "forbidden"
        case _ if code.startswith("Neo.ClientError.Security."):
            return "auth"
        case of.ServiceUnavailable() | of.SessionExpired() | of.DatabaseUnavailable():
            return "service_unavailable"
        case of.ConfigurationError() | OSError():
            return "service_unavailable"
        case of.TransientError():
            return "busy"
        case _ if "DatabaseNotFound" in code:
            return "service_unavailable"
    return None


def _cause(error: BaseException) -> str:
    """Return the innermost cause in one line: "Connection refused"."""
    from neo4j.exceptions import Neo4jError

    while True:
        if isinstance(error, BaseExceptionGroup):
            inner: BaseException | None = error.exceptions[0]
        else:
            inner = error.__cause__
        if inner is None:
            break
        error = inner
    said = error.message if isinstance(error, Neo4jError) else str(error)
    message = said or type(error).__name__
    return re.sub(r"^\[Errno -?\d+\] ", "", str(message).strip().splitlines()[-1]).rstrip(".")
