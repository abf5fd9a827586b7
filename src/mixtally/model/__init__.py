"""Frozen data that all packages share: question, guarantee, plan, certificate and result."""
