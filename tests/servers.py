"""Real parts for the tests: a PostgreSQL server on loopback and one Spark per test process."""

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from uuid import uuid4

import polars as pl
import pytest


def missing(what: str) -> NoReturn:
    """Under CI a missing part is a failure: a suite that skips proves nothing."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} is not installed; tests/install brings it")
    pytest.skip(f"{what} is not installed; tests/install brings it")


@dataclass(frozen=True)
class Postgres:
    """A server whose user `reader` may read, with a password; its default collation is not that of the bytes."""

    port: int
    password: str = "CANARY-s3cret"

    @property
    def url(self) -> str:
        return f"postgresql://reader@127.0.0.1:{self.port}/postgres"

    @contextmanager
    def owner(self) -> Iterator[Any]:
        """A cursor that may do anything; every statement is committed."""
        from adbc_driver_postgresql.dbapi import connect

        url = self.url.replace("reader@", f"postgres:{self.password}@")
        with connect(url, autocommit=True) as connection, connection.cursor() as cursor:
            yield cursor

    def load(self, frame: pl.DataFrame) -> str:
        """The frame as a new table."""
        name = f"log_{uuid4().hex}"
        with self.owner() as owner:
            owner.adbc_ingest(name, frame.to_arrow())
        return name


def _binaries() -> Path | None:
    found = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    return Path(found).parent if found else folders[0].parent if folders else None


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    binaries = _binaries()
    if binaries is None:
        missing("PostgreSQL")
    folder = Path(tempfile.mkdtemp(prefix="travas-postgres-"))
    unprivileged: list[str] = []
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        user = next(name for name in ("postgres", "nobody") if name in {entry.pw_name for entry in pwd.getpwall()})
        unprivileged = ["setpriv", f"--reuid={user}", "--clear-groups"]
        shutil.chown(folder, user)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        server = Postgres(probe.getsockname()[1])
    secret = folder / "password"
    secret.write_text(server.password)
    secret.chmod(0o644)

    def run(program: str, *words: str) -> None:
        subprocess.run(
            [*unprivileged, f"{binaries}/{program}", *words], check=True, cwd=folder, stdout=subprocess.DEVNULL
        )

    data = folder / "data"
    run(
        "initdb", "-D", str(data), "-U", "postgres", "-A", "scram-sha-256", f"--pwfile={secret}", "-E", "UTF8",
        "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US", "--no-sync",
    )  # fmt: skip
    options = f"-p {server.port} -k {folder} -h 127.0.0.1 -c fsync=off"
    run("pg_ctl", "-D", str(data), "-w", "-l", str(folder / "log"), "-o", options, "start")
    try:
        with server.owner() as owner:
            owner.executescript(
                f"CREATE ROLE reader LOGIN PASSWORD '{server.password}'; "
                "ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO reader"
            )
        yield server
    finally:
        run("pg_ctl", "-D", str(data), "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres(postgres_server: Postgres, monkeypatch: pytest.MonkeyPatch) -> Postgres:
    monkeypatch.setenv("PGPASSWORD", postgres_server.password)
    return postgres_server


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Local mode, in a time zone that is not UTC."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        missing("Java")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings: dict[str, bool | float | int | str | None] = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.session.timeZone": "America/New_York",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
    }
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    yield session
    session.stop()
