"""Other people's programs: their loops around our games, our players in their programs, their players in ours.

Each module needs packages of its own, which the extra `interop` names; nothing is imported before it is used.
"""
