"""What serving needs beside the package, and what to do where it is missing."""

from importlib import import_module

from mixtally.errors import DataError

_LIBRARIES = ("starlette", "uvicorn", "httptools")


def need_servers() -> None:
    """Raises DataError where the libraries of the extra ``[serve]`` are missing."""
    for name in _LIBRARIES:
        try:
            import_module(name)
        except ImportError as error:
            raise DataError(
                "serving",
                wanted=f"the library {name}",
                got="none",
                do="pip install 'mixtally[serve]'",
            ) from error
