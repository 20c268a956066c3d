"""How far probabilities, prediction sets and novelty can be trusted on citation networks."""
