"""The version of the package. The build reads it from this file."""

VERSION = "0.1.0"
