"""What routes work with: the actions and stores that the composition root has put together."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from spanwise.actions.access import Access
from spanwise.actions.accounts import Accounts
from spanwise.actions.keys import Keys
from spanwise.settings import Settings
from spanwise.storage.catalog import Catalog
from spanwise.storage.counters import Counters


@dataclass(frozen=True)
class Services:
    settings: Settings
    catalog: Catalog
    counters: Counters
    access: Access
    accounts: Accounts
    keys: Keys


def get_services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


Use = Annotated[Services, Depends(get_services)]
