# -*- coding: utf-8 -*-
import os


def pytest_collection_modifyitems(config, items):
    """One id as no parametrisation could make it; execnet takes no lone surrogate."""
    xdist = "PYTEST_XDIST_WORKER" in os.environ
    for item in items:
        if item.name == "test_odd_id_passes":
            item._nodeid = item.nodeid + u"[\n\t\xe9 \u4e2d]" + ("" if xdist else "\udc80")
