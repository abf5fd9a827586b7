"""Planes of Z_p^t as messages: what is counted of a value in them.

A message names a plane, of a direction that its sender drew. It points at a value when the plane
holds it. Every person draws a direction of their own, so that of n people and m fakes

    S_x = n_x + Bin(n - n_x, kappa) + Bin(m, 1/p)

messages point at the value x that n_x people hold: the very distribution, whatever others hold.

Source: ``contract.planes``; kappa is the same for every pair of values.
"""

import msgspec

from mixtally.contract import planes


class Planes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Z_p^t and its planes.

    where
      prime    p, the planes of a direction, in [2, 10^7]
      digits   t, in [2, 62]
    """

    prime: int
    digits: int

    @property
    def bare(self) -> planes.Planes:
        """As devices know them."""
        return planes.Planes(self.prime, self.digits)

    @property
    def points(self) -> int:
        """Values that can be told apart, p^t."""
        return self.bare.points

    @property
    def messages(self) -> int:
        """Different messages, and different fakes."""
        return self.bare.messages

    @property
    def meeting(self) -> float:
        """kappa: the share of directions in which two values lie in one plane."""
        return (self.points // self.prime - 1) / (self.points - 1)
