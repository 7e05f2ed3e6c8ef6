"""Stores: how processes of a job find each other before they can talk."""
