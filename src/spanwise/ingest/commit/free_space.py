"""Refuses writes before the disk is full, when the engine could no longer merge or delete."""

import os
import time
from pathlib import Path

import structlog

from spanwise.model.errors import Unavailable

log = structlog.get_logger()

# Checking once per group made small groups 10 % slower: the system call releases the GIL.
CHECK_SECONDS = 0.1


class FreeSpace:
    def __init__(self, folder: Path, min_free_bytes: int) -> None:
        self._folder = folder
        self._min_free_bytes = min_free_bytes
        self._is_low = False
        self._valid_until = 0.0

    def check(self) -> None:
        """Raise Unavailable when the disk has too little room; a good result is cached."""
        now = time.monotonic()
        if now < self._valid_until:
            return
        disk = os.statvfs(self._folder)
        free_bytes = disk.f_bavail * disk.f_frsize
        is_low = free_bytes < self._min_free_bytes
        if is_low != self._is_low:
            self._is_low = is_low
            log.warning("disk_is_low" if is_low else "disk_has_room_again", free_bytes=free_bytes)
        if is_low:
            raise Unavailable("the disk is almost full", 5)
        self._valid_until = now + CHECK_SECONDS
