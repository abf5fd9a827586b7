"""One-time codes, which a collector makes and gives to people."""

from mixtally.device.wire.codes import MOST_CODES, SECRET_BYTES, make_code, write_codes
from mixtally.device.wire.note import sign_note
from mixtally.errors import ParameterError, PlanError
from mixtally.model.contract import Contract
from mixtally.primitives.chance import Chance
from mixtally.server.node.folder import Folder
from mixtally.server.node.wrapping import secret_bytes


def make_codes(
    role: Folder, contract: Contract, fingerprint: str, number: int, chance: Chance
) -> tuple[list[str], bytes]:
    """Return ``number`` new codes of a contract, and the signed list of their hashes.

    The list is for the first mix. The codes themselves are not stored.

    Raises
    ------
    PlanError
        If this role is not the contract's collector, or the contract asks for no codes.
    ParameterError
        If the number is out of range.
    """
    own = {signer.verifier: signer for signer in role.signers}
    signer = own.get(contract.collector.key)
    if signer is None or contract.admission != "codes":
        raise PlanError(
            f"contract {contract.name}",
            expected='a contract with admission "codes" and with this collector',
            got=f'admission "{contract.admission}" and the collector {contract.collector.name}',
            do="write the line admission into its network file, and make the contract again",
        )
    most = min(MOST_CODES, contract.most_bundles)
    if not 1 <= number <= most:
        raise ParameterError(
            "--number",
            expected=f"1 to {most:,}, as the contract accepts no more bundles in a round",
            got=number,
            do="choose a smaller number, or make a contract with a larger most_bundles",
        )
    codes = [make_code(secret_bytes(chance, SECRET_BYTES)) for _ in range(number)]
    return codes, sign_note(write_codes(fingerprint, codes), signer)
