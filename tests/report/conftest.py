"""What tests of several files share."""

import pytest

from simulation.studies import make_study


@pytest.fixture(scope="session")
def study():
    """The maker of studies."""
    return make_study
