"""Encodings of a record: one message, or one message for each bit or attribute.

The planner tries every encoding of a question. The parts of a plan tell which one was chosen.
"""

from dataclasses import dataclass, replace

from mixtally.model.question import Kind, Question


@dataclass(frozen=True, slots=True)
class Encoding:
    """One way to send a record. ``parts`` has, for each message, the question that it answers."""

    parts: tuple[Question, ...]

    @property
    def is_split(self) -> bool:
        """Whether a record is more than one message."""
        return len(self.parts) > 1

    @property
    def is_whole_set(self) -> bool:
        """Whether a record is a set that may have several bins and is sent as one part.

        A record of attributes is not such a set, even if it is sent as one part.
        """
        one = self.parts[0]
        return (
            not self.is_split
            and one.kind is Kind.SET
            and one.attributes is None
            and one.max_set > 1
        )

    def to_clear(self) -> "Encoding | None":
        """Return this encoding with messages that name one bin each; None if that is impossible.

        A single bit becomes the bins "no" and "yes".
        """
        answers = [_as_answer(part) for part in self.parts]
        if any(part.kind is not Kind.ONE for part in answers):
            return None
        return replace(self, parts=tuple(answers))


def list_encodings(question: Question) -> list[Encoding]:
    """Return every encoding of ``question``, beginning with the whole record."""
    whole = Encoding((question,))
    if question.kind is Kind.BITS and question.bins > 1:
        return [whole, Encoding(tuple(_bit(question, i) for i in range(question.bins)))]
    if question.attributes is not None:
        return [whole, Encoding(tuple(_attribute(question, i) for i in range(question.max_set)))]
    return [whole]


def slots_question(question: Question) -> Question | None:
    """Return ``question`` in the form in which devices can send a sample of a record's slots.

    A *slot* is one of the bins that every record has: one of each attribute, one for each bit, or
    a member of a set. A vector of bits becomes attributes with the two bins "no" and "yes". Other
    questions are unchanged. The result is None if a record has only one slot, or if the question is
    an open domain.
    """
    if question.kind is Kind.BITS and question.bins > 1:
        return Question(
            name=question.name,
            bins=2 * question.bins,
            kind=Kind.SET,
            max_set=question.bins,
            attributes=(2,) * question.bins,
        )
    whole = question.kind is Kind.SET and question.max_set > 1 and question.hashed is None
    return question if whole else None


def _as_answer(part: Question) -> Question:
    if part.kind is Kind.BITS and part.bins == 1:
        return Question(name=part.name, bins=2, labels=("no", "yes"))
    return part


def _bit(question: Question, index: int) -> Question:
    label = (question.labels[index],) if question.labels else None
    return Question(name=f"{question.name}/{index + 1}", bins=1, kind=Kind.BITS, labels=label)


def _attribute(question: Question, index: int) -> Question:
    sizes = question.attributes or ()
    start = sum(sizes[:index])
    labels = question.labels[start : start + sizes[index]] if question.labels else None
    return Question(name=f"{question.name}/{index + 1}", bins=sizes[index], labels=labels)
