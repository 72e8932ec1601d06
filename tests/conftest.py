"""Settings of every test."""

from hypothesis import HealthCheck, settings

# A slow machine is no failure: nothing here is a test of speed.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")
