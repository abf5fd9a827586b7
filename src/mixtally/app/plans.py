"""Files of plans and contracts, and their approval pages.

The commands ``plan`` and ``contract`` write these files, as does Python.
"""

from collections.abc import Mapping
from pathlib import Path

from mixtally.app.approval import approval
from mixtally.app.approval_details import ApprovalDetails, read_approval_details
from mixtally.errors import ParameterError, join_words, not_together
from mixtally.model.contract import Contract, Plan, fingerprint_of, write_contract, write_plan
from mixtally.report.document import Document
from mixtally.report.markdown import markdown
from mixtally.report.page import page

_HTML, _MARKDOWN = (".html", ".htm"), (".md", ".markdown")


def is_page(path: Path) -> bool:
    """Return whether the name of a file has the ending of an approval page, .html or .md."""
    return path.suffix.lower() in (*_HTML, *_MARKDOWN)


def page_file(document: Document, path: Path) -> bytes:
    """Return a document as an HTML or Markdown page, depending on the name of its file.

    Parameters
    ----------
    document : Document
        The approval page, without a format.
    path : Path
        The file to write, whose name ends in .html or .md.

    Raises
    ------
    ParameterError
        If the name has another ending.
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
        do="choose the format of the page by the ending",
    )


def plan_file(plan: Plan, path: Path, details: ApprovalDetails | None) -> bytes:
    """Return the content of a plan's file, or of its approval page.

    Parameters
    ----------
    plan : Plan
        The plan to write.
    path : Path
        The file to write. If its name ends in .html or .md, the content is an approval page.
    details : ApprovalDetails or None
        Statements of the controller for the page.
    """
    if is_page(path):
        return page_file(approval(plan, plan.fingerprint, None, details), path)
    return write_plan(plan)


def contract_file(contract: Contract, path: Path, details: ApprovalDetails | None) -> bytes:
    """Return the content of a contract's file, or of its approval page, as ``plan_file`` does.

    Parameters
    ----------
    contract : Contract
        The contract to write.
    path : Path
        The file to write. If its name ends in .html or .md, the content is an approval page.
    details : ApprovalDetails or None
        Statements of the controller for the page.
    """
    data = write_contract(contract)
    if not is_page(path):
        return data
    return page_file(approval(contract.plan, fingerprint_of(data), contract, details), path)


def details_of(
    given: str | Path | Mapping[str, object] | None, path: Path | None
) -> ApprovalDetails | None:
    """Return the statements of the controller for an approval page; None if none are given.

    Parameters
    ----------
    given : str, Path, Mapping or None
        The statements, as a TOML file or as a mapping with its fields.
    path : Path or None
        The file to write. It must be a page, because only a page can contain the statements.

    Raises
    ------
    DataError
        If the file of the statements cannot be read.
    ParameterError
        If ``path`` is not a page.
    PlanError
        If a field has an unknown name or a value of another type.
    """
    if given is None:
        return None
    details = read_approval_details(given)
    if path is None or not is_page(path):
        raise ParameterError(
            "approval",
            expected="an approval page as output, a file that ends in .html or .md",
            got="no file" if path is None else str(path),
            do="name a page, or leave the details out: plans and contracts do not contain them",
        )
    return details


def refuse_extra_flags(flags: list[str], what: str = "plan") -> None:
    """Raise an error if the user set options that a plan or contract already fixes.

    Parameters
    ----------
    flags : list of str
        The names of these options, such as "--epsilon"; empty if the user set none.
    what : str
        The word for the file that fixes the options: "plan" or "contract".

    Raises
    ------
    ParameterError
        If ``flags`` is not empty.
    """
    if flags:
        rest = join_words(flags)
        do = f"leave {rest} out: the {what} contains {'it' if len(flags) == 1 else 'them'}"
        raise not_together(f"--{what}", f"a {what}", flags, do)
