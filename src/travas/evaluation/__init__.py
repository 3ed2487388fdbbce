"""CONFIDENTIAL: reads the original log to measure, forecast and experiment."""
