"""Integrations with other packages: networkx, scanpy and notebooks."""
