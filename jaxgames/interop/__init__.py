"""Other people's programs: their loops around our games, our players in their programs, their players in ours.

Each module needs its own packages, which the extra `interop` names; nothing is imported before it is used.
"""
