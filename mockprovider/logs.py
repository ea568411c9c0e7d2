"""Logs as JSON lines on standard output."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

LOGGER = logging.getLogger("mockprovider")


class JSONFormatter(logging.Formatter):
    """One JSON object per record; fields come in the record's `fields` attribute."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one record."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "msg": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.name != LOGGER.name:
            line["logger"] = record.name
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line)


def configure() -> None:
    """Send every logger of the process to standard output, each line flushed as it is written."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JSONFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    LOGGER.setLevel(logging.INFO)
    # Its warnings tell only that requests wait for a thread, which faults with latency do on purpose.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)


def info(message: str, **fields: object) -> None:
    """Log one thing that happened."""
    LOGGER.info(message, extra={"fields": fields})


def error(message: str, exception: BaseException, **fields: object) -> None:
    """Log a failure of the mock provider itself."""
    LOGGER.error(message, exc_info=exception, extra={"fields": fields})
