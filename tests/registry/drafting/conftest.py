from __future__ import annotations

import shutil

import pytest
from topics import CATALOGUE

from cdc_contracts.registry.core.contract.catalogue import CANONICAL, Catalogue


@pytest.fixture(scope="module")
def canonical(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    """The catalogue without any product, so that a draft is not compared with all of them."""
    root = tmp_path_factory.mktemp("canonical")
    shutil.copytree(CATALOGUE.canonical.folder, root / CANONICAL / "v1")
    return Catalogue([root])
