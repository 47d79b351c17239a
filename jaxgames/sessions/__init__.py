"""Games that people play: whose turn it is, what was played, what can be taken back, and the record."""

from jaxgames.sessions.record import GameRecord
from jaxgames.sessions.session import Session

__all__ = ["GameRecord", "Session"]
