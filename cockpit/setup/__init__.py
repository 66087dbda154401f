"""What a new operator needs before the first turn, and the keeper of a store afterwards: the first recipe, the
examination of a machine, retention. Nothing here starts a server or asks a model."""
