"""CONFIDENTIAL: metrics, forecasts and experiments, which read the original log."""
