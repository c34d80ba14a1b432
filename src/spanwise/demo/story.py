"""The demo from beginning to end: an account, its month, then life as it goes on."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random

from spanwise.api.services import Services
from spanwise.demo.history import History
from spanwise.demo.live import keep_talking
from spanwise.demo.plot import Plot
from spanwise.demo.trials import Trials, plan_trials
from spanwise.demo.watch import StoryClock, relive_alerts, set_rules
from spanwise.model.accounts import Principal
from spanwise.model.errors import Invalid, StartError
from spanwise.model.keys import Scope
from spanwise.model.record import utc_now
from spanwise.storage.catalog import users as stored_users

EMAIL = "demo@example.com"
PASSWORD = "watch the fleet"
MARKER = "demo.json"
_COLLEAGUES = (("mara@example.com", "Mara Lind"), ("joel@example.com", "Joel Okafor"))

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Told:
    """What has to be known to go on with a story: it follows from the seed and the end."""

    seed: int
    end: datetime

    @property
    def plot(self) -> Plot:
        return Plot.ending(self.end)

    @property
    def trials(self) -> Trials:
        return plan_trials(self.plot, Random(f"{self.seed}/trials"))

    def write(self, folder: Path) -> None:
        marker = {"seed": self.seed, "end": self.end.isoformat()}
        (folder / MARKER).write_text(json.dumps(marker))

    @classmethod
    def read(cls, folder: Path) -> "Told | None":
        path = folder / MARKER
        if not path.exists():
            return None
        marker = json.loads(path.read_text())
        return cls(marker["seed"], datetime.fromisoformat(marker["end"]))


async def tell(
    services: Services, clock: StoryClock, seed: int, scale: float, progress: Progress
) -> Told:
    """Fill the demo account's workspace, unless that is done already."""
    folder = services.settings.data_dir
    told = Told.read(folder)
    if told is not None:
        return told
    told = Told(seed, utc_now().replace(microsecond=0))
    caller = await _register(services, folder)
    history = History(services, caller, told.plot, told.trials, seed)
    await history.add_agents()
    await history.add_experiments()
    await history.send_all(scale, lambda share: progress("a month of traffic", share))
    await set_rules(services, caller)
    await relive_alerts(services, caller, told.plot, clock, lambda share: progress("alerts", share))
    await _add_keys(services, caller)
    told.write(folder)
    return told


async def go_on(services: Services, told: Told) -> None:
    """Keep traffic coming until cancelled."""
    rng = Random(f"{told.seed}/{utc_now().isoformat()}")
    caller = await _find_caller(services)
    if caller is not None:
        await keep_talking(services, caller, told.plot, told.trials, rng)


async def _register(services: Services, folder: Path) -> Principal:
    try:
        users = [await services.accounts.register(EMAIL, PASSWORD, "Demo", None)]
    except Invalid:
        raise StartError(
            f"the demo in {folder} was interrupted while it was made; start it with --fresh"
        ) from None
    for email, name in _COLLEAGUES:
        users.append(await services.accounts.register(email, PASSWORD, name, None))
    async with services.catalog.write() as tx:
        for user in users:
            await stored_users.update_user(tx, user.id, {"email_verified": True})
    caller = await _find_caller(services)
    if caller is None:
        raise StartError("the demo account is not there")
    return caller


async def _find_caller(services: Services) -> Principal | None:
    async with services.catalog.read() as tx:
        account = await stored_users.find_account_by_email(tx, EMAIL)
    if account is None:
        return None
    return Principal(account.user.id, account.workspace_id, account.user.role)


async def _add_keys(services: Services, caller: Principal) -> None:
    for name, scope in (("production fleet", Scope.INGEST), ("weekly report", Scope.READ)):
        await services.keys.create(caller, name, [scope], None, None)
    old = await services.keys.create(caller, "old laptop", [Scope.FULL], None, None)
    await services.keys.revoke(caller, old.id, None)
