"""Numbers of people in each hexagon of a map, from the coordinates of each person.

The command line and Python call ``places``.
"""

from dataclasses import replace

from mixtally.app.count import GivenPlan, count, prepare_round
from mixtally.app.limits import BudgetOptions, plan_request
from mixtally.app.outcome import Outcome, Run, outcome_of, plan_files
from mixtally.lab.data.places import HexagonGrid
from mixtally.lab.data.population import Population
from mixtally.lab.simulation import plan_choice
from mixtally.lab.simulation.study import Study
from mixtally.lab.simulation.study_document import document
from mixtally.model.guarantee import Guarantee
from mixtally.protocol.estimate.analysis import Analysis
from mixtally.report.document import HOLDS_RAW, SIMULATION, Document, Picture, Section
from mixtally.report.hexmap import hexmap
from mixtally.report.numbers import at_most
from mixtally.report.svg import Markup


def places(
    crowd: Population, promised: Guarantee, hexagons: HexagonGrid, budget: BudgetOptions, run: Run
) -> Outcome:
    """Count people in hexagons that were fixed before the collection, and draw a map.

    Parameters
    ----------
    crowd : Population
        The people; the bin of each person is a hexagon.
    promised : Guarantee
        The epsilon and delta that the collection must have.
    hexagons : HexagonGrid
        The hexagons that are counted, fixed in advance.
    budget : BudgetOptions
        The costs that the collection may have.
    run : Run
        The settings of the simulation.

    Raises
    ------
    ParameterError
        If an option is out of range.
    InfeasibleError
        If no plan meets the request.
    """
    request = plan_request(budget, crowd.question, promised, crowd.users)
    plan, reason = plan_choice.choose_plan(request, run.lab.planner)
    ready = prepare_round(
        f"{len(hexagons.cells):,} hexagons",
        GivenPlan(plan, reason),
        crowd,
        Analysis(level=run.level),
    )
    counted = count(ready, run)
    # Hexagons are listed by their counts, because their order in the grid has no meaning.
    study = replace(counted, about=replace(counted.about, ordered=False)).study()
    picture = _draw_map(study, hexagons)
    return outcome_of(
        study,
        lambda shown: _add_map(document(shown, run.top), picture),
        crowd.from_data,  # never includes the hexagons, which depend on the box only
        {**plan_files(study), **_map_file(picture, seeded=run.seed is not None)},
    )


def _draw_map(study: Study, hexagons: HexagonGrid) -> Markup:
    """Return the map of the estimates; it contains no true counts."""
    main = study.main_result
    stated = main.certificate
    note = (
        f"Elsewhere: {main.estimate.counts[-1]:,.0f}. epsilon {at_most(stated.epsilon)}, "
        f"delta <= {at_most(stated.upper)}."
    )
    title = f"{main.plan.users:,} people by place"
    return hexmap(title, hexagons.outlines(), hexagons.cells, main.estimate, note)


def _add_map(shown: Document, picture: Markup) -> Document:
    """Return the document with the map as its first section."""
    return replace(shown, sections=lambda: (Section("Map", (Picture(picture),)), *shown.sections()))


def _map_file(picture: Markup, *, seeded: bool) -> dict[str, bytes]:
    """Return a dict from the name of the map's file to its content.

    If the noise comes from a seed, the name begins with the folder of the simulation.
    """
    if seeded:
        return {f"{SIMULATION}/map.svg": f"<!-- {HOLDS_RAW} -->\n{picture}\n".encode()}
    return {"map.svg": f"{picture}\n".encode()}
