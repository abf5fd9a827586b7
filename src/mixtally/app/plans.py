"""Plans and contracts as they are given, as files and as pages for approval."""

from pathlib import Path

from mixtally.app.approval import approval
from mixtally.app.approval_details import ApprovalDetails
from mixtally.errors import ParameterError
from mixtally.model.contract import (
    Contract,
    Plan,
    fingerprint_of,
    write_contract,
    write_plan,
)
from mixtally.planning import Forecast
from mixtally.report.document import Document, Promise
from mixtally.report.markdown import markdown
from mixtally.report.page import page
from mixtally.report.promise import promise_of_plan

_HTML, _MARKDOWN = (".html", ".htm"), (".md", ".markdown")


def promise_lines(plan: Plan, expected: Forecast) -> Promise:
    """Return the promise of a plan in three lines, with the error that is forecast for it."""
    return promise_of_plan(plan, expected.level, expected.half_width)


def is_page(path: Path) -> bool:
    """Return whether the name of a file asks for a page for approval."""
    return path.suffix.lower() in (*_HTML, *_MARKDOWN)


def page_file(document: Document, path: Path) -> bytes:
    """Return a document as the page that the name of its file asks for, HTML or Markdown.

    Raises
    ------
    ParameterError
        If the name ends in neither.
    """
    ending = path.suffix.lower()
    if ending in _HTML:
        return page(document).encode()
    if ending in _MARKDOWN:
        return markdown(document).encode()
    raise ParameterError(
        str(path),
        expected="the name of a page, which ends in .html or .md",
        got=f"an ending of {path.suffix!r}",
        do="choose the form of the page by its name",
    )


def plan_file(plan: Plan, path: Path, details: ApprovalDetails | None = None) -> bytes:
    """Return the bytes of a plan's file, or of its page for approval.

    Parameters
    ----------
    plan : Plan
        The plan.
    path : Path
        The file; a page for approval if its name ends in .html or .md.
    details : ApprovalDetails or None
        What the page states besides the plan.

    Raises
    ------
    ParameterError
        If there are details for a file that is no page.
    """
    if details is not None:
        check_details(path)
    if is_page(path):
        return page_file(approval(plan, plan.fingerprint, details=details), path)
    return write_plan(plan)


def contract_file(contract: Contract, path: Path, details: ApprovalDetails | None = None) -> bytes:
    """Return the bytes of a contract's file, or of its page for approval, as ``plan_file`` does."""
    if details is not None:
        check_details(path)
    data = write_contract(contract)
    if not is_page(path):
        return data
    return page_file(approval(contract.plan, fingerprint_of(data), contract, details), path)


def check_details(path: Path | None) -> None:
    """Raise ParameterError unless ``path`` is a page, into which details can be written."""
    if path is None or not is_page(path):
        raise ParameterError(
            "approval",
            expected="a page to write the details into, a file that ends in .html or .md",
            got="no file" if path is None else str(path),
            do="name a page, or leave the details out: plans and contracts do not contain them",
        )


def refuse_extra_flags(flags: list[str], what: str = "plan") -> None:
    """Raise ParameterError for options beside a plan, or a contract, that it holds itself."""
    if flags:
        made = "one" if what == "plan" else "a plan"
        raise ParameterError(
            f"--{what}",
            expected=f"a {what}, or options to make {made}",
            got="both: " + ", ".join(flags),
            do=f"leave these out: the {what} holds them",
        )
