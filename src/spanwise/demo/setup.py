"""Sets up the demo account and its history once, then continues with live traffic."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random

from spanwise.api.services import Services
from spanwise.demo.alerts import ReplayClock, replay_alerts, set_rules
from spanwise.demo.coding_agents import send_coding_agents
from spanwise.demo.dashboards import add_dashboards
from spanwise.demo.experiments import DemoExperiments, plan_experiments
from spanwise.demo.history import History
from spanwise.demo.live import send_live_traffic
from spanwise.demo.timeline import Timeline
from spanwise.model.accounts import Principal
from spanwise.model.api_model import utc_now
from spanwise.model.errors import Invalid, StartError
from spanwise.model.keys import Scope
from spanwise.model.masking import Detector, MaskingMode, MaskingRules
from spanwise.model.workspaces import WorkspaceRole
from spanwise.storage.catalog.accounts import users as stored_users

EMAIL = "demo@example.com"
PASSWORD = "watch the fleet"
MARKER = "demo.json"
WORKSPACE = "Acme assistants"
_COLLEAGUES = (
    ("mara@example.com", "Mara Lind", WorkspaceRole.ADMIN),
    ("joel@example.com", "Joel Okafor", WorkspaceRole.VIEWER),
)
_INVITED = "sam@example.com"
_MASKING = MaskingRules(
    mode=MaskingMode.MASK, detectors=[Detector.CREDIT_CARD, Detector.IBAN, Detector.SECRET]
)
_RETENTION = {"retention_days": 365, "content_retention_days": 90}

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class DemoState:
    """Seed and end of the generated month; everything else is derived from them."""

    seed: int
    end: datetime

    @property
    def timeline(self) -> Timeline:
        return Timeline.ending(self.end)

    @property
    def experiments(self) -> DemoExperiments:
        return plan_experiments(self.timeline, Random(f"{self.seed}/trials"))

    def write(self, folder: Path) -> None:
        marker = {"seed": self.seed, "end": self.end.isoformat()}
        (folder / MARKER).write_text(json.dumps(marker))

    @classmethod
    def read(cls, folder: Path) -> "DemoState | None":
        path = folder / MARKER
        if not path.exists():
            return None
        marker = json.loads(path.read_text())
        return cls(marker["seed"], datetime.fromisoformat(marker["end"]))


async def prepare_demo(
    services: Services, clock: ReplayClock, seed: int, scale: float, progress: Progress
) -> DemoState:
    """Fill the demo account's workspace, unless that is already done."""
    folder = services.settings.data_dir
    state = DemoState.read(folder)
    if state is not None:
        return state
    state = DemoState(seed, utc_now().replace(microsecond=0))
    caller = await _register(services, folder)
    history = History(services, caller, state.timeline, state.experiments, seed)
    await history.add_agents()
    await history.add_experiments()
    await send_coding_agents(services, caller.sender, state.timeline, scale, seed)
    await history.send_all(scale, lambda share: progress("a month of traffic", share))
    await set_rules(services, caller)
    await replay_alerts(
        services, caller, state.timeline, clock, lambda share: progress("alerts", share)
    )
    await _add_keys(services, caller)
    await add_dashboards(services, caller)
    state.write(folder)
    return state


async def continue_traffic(services: Services, state: DemoState) -> None:
    """Send live traffic until cancelled."""
    rng = Random(f"{state.seed}/{utc_now().isoformat()}")
    caller = await _find_caller(services)
    if caller is not None:
        await send_live_traffic(services, caller, state.timeline, state.experiments, rng)


async def _register(services: Services, folder: Path) -> Principal:
    try:
        users = [await services.identity.accounts.register(EMAIL, PASSWORD, "Demo", None)]
    except Invalid:
        raise StartError(
            f"the setup of the demo in {folder} was interrupted; start again with --fresh"
        ) from None
    for email, name, _ in _COLLEAGUES:
        users.append(await services.identity.accounts.register(email, PASSWORD, name, None))
    async with services.catalog.write() as tx:
        for user in users:
            await stored_users.update_user(tx, user.id, {"email_verified": True})
    caller = await _find_caller(services)
    if caller is None:
        raise StartError("the demo account does not exist")
    await _share_workspace(services, caller)
    return caller


async def _share_workspace(services: Services, caller: Principal) -> None:
    """Name the workspace, set its rules, add the colleagues, and leave one invitation open."""
    await services.identity.workspaces.update(caller, {"name": WORKSPACE, **_RETENTION}, None)
    await services.ingest.masking.put(caller, _MASKING, None)
    for email, _, role in _COLLEAGUES:
        invitation = await services.identity.invitations.invite(caller, email, role, None)
        colleague = await _find_caller(services, email)
        if colleague is not None:
            token = invitation.link.partition("token=")[2]
            await services.identity.invitations.accept(colleague, token, None)
    await services.identity.invitations.invite(caller, _INVITED, WorkspaceRole.EDITOR, None)


async def _find_caller(services: Services, email: str = EMAIL) -> Principal | None:
    async with services.catalog.read() as tx:
        account = await stored_users.find_account_by_email(tx, email)
    if account is None:
        return None
    return Principal.of_account(account)


async def _add_keys(services: Services, caller: Principal) -> None:
    for name, scope in (("production fleet", Scope.INGEST), ("weekly report", Scope.READ)):
        await services.identity.keys.create(caller, name, [scope], None, None)
    old = await services.identity.keys.create(caller, "old laptop", [Scope.FULL], None, None)
    await services.identity.keys.revoke(caller, old.id, None)
